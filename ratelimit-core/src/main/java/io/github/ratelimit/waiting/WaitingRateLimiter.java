package io.github.ratelimit.waiting;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Lets callers wait until their requests are within the limits: calls to others, and
 * jobs. A denial says when the same request would be allowed. The caller sleeps until
 * then, and asks again. If it may not wait so long, it is denied at once, and nothing is
 * used.
 * <p>
 * <b>Order.</b> Callers of this object with the same policies and identifiers form a
 * line: first come, first served. Only the first asks the store, as a rule once for each
 * admission, and once more for the first that waits. The others learn from its decisions,
 * and the costs ahead of them count. A large cost holds back those behind it. Other
 * lines, other processes and {@link #tryAcquire} are not in the line: if they were
 * faster, the first in line waits again, and may be denied after it has waited. A caller
 * waits for the limits that it came with, even if its policy changes meanwhile.
 * <p>
 * <b>What becomes known late.</b> After a refund through this object the first in line
 * asks at once. Others refund and reset as well, so it asks every ten seconds anyway.
 * Where an algorithm {@linkplain Algorithm#countsCalls() counts calls}, nobody knows when
 * the next one ends: the first in line asks every second, until its time is over.
 * <p>
 * Waits are measured by {@link System#nanoTime()}, so that a clock that is set does not
 * matter. If the store fails, the first in line gets the exception, and the next one
 * asks. A block is waited for like a limit; shadow mode never waits. Nor does anybody
 * wait for policies that count denied requests or have a {@link Penalty}, because each
 * attempt would be punished. The number of callers is not limited, but those for whom
 * quota does not arrive in time do not wait. Callers hold no monitor and no connection
 * while they wait, so virtual threads release their carriers. Safe for use by several
 * threads.
 */
public final class WaitingRateLimiter extends DelegatingRateLimiter {

	private final Time time;

	/** The lines that callers use, by charges of cost 1. */
	private final Map<List<Charge>, WaitingLine> lines = new ConcurrentHashMap<>();

	/** The same lines by all that they count. */
	private final Map<Count, Set<WaitingLine>> linesOf = new ConcurrentHashMap<>();

	/** Creates a rate limiter whose callers wait by the clock of the JVM. */
	public WaitingRateLimiter(RateLimiter limiter) {
		this(limiter, Time.SYSTEM);
	}

	/** Creates a rate limiter whose callers wait by another clock, for tests. */
	public WaitingRateLimiter(RateLimiter limiter, Time time) {
		super(limiter);
		this.time = time;
	}

	/** Uses a cost of 1, as {@link #acquire(RateLimitRequest, Duration)}. */
	public Decision acquire(Policy policy, Identifier identifier, Duration atMost) throws InterruptedException {
		return acquire(RateLimitRequest.of(policy, identifier), atMost);
	}

	/**
	 * Uses the cost of the request as soon as every limit allows it.
	 * @param atMost how long to wait at most; {@link #tryAcquire} if zero or less, or if
	 * a policy counts denied requests or has a penalty
	 * @return the decision. A denial has used nothing. If others wait, it is from memory,
	 * and its retry-after is the earliest time after them
	 * @throws InterruptedException if the thread was interrupted while it waited, or
	 * before it would wait. Nothing was used, and the others wait on
	 * @throws StoreException if the store did not answer
	 */
	public Decision acquire(RateLimitRequest request, Duration atMost) throws InterruptedException {
		return acquire(request, atMost, () -> tryAcquire(request));
	}

	/**
	 * Acquires as {@link #acquire(RateLimitRequest, Duration)}, for callers that ask in
	 * another way.
	 * @param attempt decides over the request now, as {@link #tryAcquire} would
	 */
	public Decision acquire(RateLimitRequest request, Duration atMost, Supplier<Decision> attempt)
			throws InterruptedException {
		if (atMost.isZero() || atMost.isNegative()
				|| request.charges().stream().anyMatch((charge) -> punishes(charge.policy()))) {
			return attempt.get();
		}
		List<Charge> key = request.charges().stream().map((charge) -> charge.withCost(1)).toList();
		WaitingLine line = this.lines.compute(key, this::enter);
		try {
			return line.acquire(request.withCharges(request.charges()), attempt, TimeUnit.NANOSECONDS.convert(atMost));
		}
		finally {
			this.lines.computeIfPresent(key, this::leave);
		}
	}

	private WaitingLine enter(List<Charge> key, @Nullable WaitingLine present) {
		WaitingLine line = (present != null) ? present : new WaitingLine(this.time);
		line.callers++;
		if (present == null) {
			counts(key).forEach((count) -> this.linesOf.compute(count, (same, others) -> {
				Set<WaitingLine> lines = (others != null) ? others : ConcurrentHashMap.newKeySet();
				lines.add(line);
				return lines;
			}));
		}
		return line;
	}

	private @Nullable WaitingLine leave(List<Charge> key, WaitingLine line) {
		line.callers--;
		if (line.callers > 0) {
			return line;
		}
		counts(key).forEach((count) -> this.linesOf.computeIfPresent(count, (same, lines) -> {
			lines.remove(line);
			return lines.isEmpty() ? null : lines;
		}));
		return null;
	}

	private static Stream<Count> counts(List<Charge> charges) {
		return charges.stream()
			.flatMap((charge) -> charge.identifiers()
				.stream()
				.map((identifier) -> new Count(charge.policy().name(), identifier)));
	}

	private static boolean punishes(Policy policy) {
		return policy.countDenied() || policy.penalty() != null;
	}

	/**
	 * Refuses a policy that nobody should wait for.
	 * @throws IllegalArgumentException if it counts denied requests or has a penalty
	 */
	public static void requireUnpunished(Policy policy) {
		if (punishes(policy)) {
			throw new IllegalArgumentException(
					"Invalid policy (%s): nobody can wait for it, because it counts denied requests or has a penalty."
						.formatted(policy.name()));
		}
	}

	/** Refunds, and lets those who wait for it ask at once. */
	@Override
	public void refund(RateLimitRequest request) {
		super.refund(request);
		if (!this.linesOf.isEmpty()) {
			counts(request.charges())
				.forEach((count) -> this.linesOf.getOrDefault(count, Set.of()).forEach(WaitingLine::wake));
		}
	}

	/** Policies of the same name share it, whatever their quotas. */
	private record Count(String policy, Identifier identifier) {

	}

	/** How time passes for those who wait. Safe for use by several threads. */
	public interface Time {

		/** The clock of the JVM. */
		Time SYSTEM = new Time() {
		};

		/** Returns the time, by default {@link System#nanoTime()}. */
		default long nanoTime() {
			return System.nanoTime();
		}

		/** Lets so many nanoseconds pass, or fewer if there is a signal. */
		default void pass(long nanos, Semaphore signal) throws InterruptedException {
			signal.tryAcquire(nanos, TimeUnit.NANOSECONDS);
		}

	}

}
