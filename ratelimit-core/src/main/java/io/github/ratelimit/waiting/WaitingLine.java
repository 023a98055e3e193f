package io.github.ratelimit.waiting;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.waiting.WaitingRateLimiter.Time;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait for the same policies and identifiers. Times are in nanoseconds. Safe
 * for use by several threads.
 */
final class WaitingLine {

	/** When to ask again after a denial, at the earliest. */
	private static final long EARLIEST = 1_000_000;

	/** When to ask again while calls run, whose ends nobody knows. */
	private static final long SOON = 1_000_000_000;

	/** When to ask again at the latest. */
	private static final long LATEST = 10 * SOON;

	private static final long NEVER = Long.MAX_VALUE / 4;

	private final Time time;

	/** Held by the first in line. */
	private final ReentrantLock turn = new ReentrantLock(true);

	private final Semaphore signal = new Semaphore(0);

	/** How many use it, whether they wait or not; guarded by whoever keeps the lines. */
	int callers;

	private int waiting;

	/** What those in line use of each limit, at least. */
	private long costs;

	/** What the store has said last; something as soon as somebody waits. */
	private Answer last = new Answer(null, Decision.withoutStore(), 0);

	WaitingLine(Time time) {
		this.time = time;
	}

	/** Lets the first in line ask as soon as it can. */
	void wake() {
		if (this.signal.availablePermits() == 0) {
			this.signal.release();
		}
	}

	/**
	 * Uses the cost of a request in time, or denies it.
	 * @param request a request that nobody else has
	 */
	Decision acquire(RateLimitRequest request, Supplier<Decision> attempt, long atMost) throws InterruptedException {
		long end = this.time.nanoTime() + Math.min(atMost, NEVER);
		Answer answer = isEmpty() ? ask(request, attempt) : null;
		if (answer != null && answer.isFinal()) {
			return answer.decision();
		}
		if (!join(answer, request, end)) {
			return refusal(request, attempt);
		}
		boolean first = false;
		answer = null;
		try {
			first = this.turn.tryLock(left(end), TimeUnit.NANOSECONDS);
			answer = first ? inTurn(request, attempt, end) : null;
		}
		finally {
			learn(answer, request, -1);
			if (first) {
				this.turn.unlock();
			}
		}
		return (answer != null) ? answer.decision() : refusal(request, attempt);
	}

	/** Returns the final answer; {@code null} if the time left does not suffice. */
	private @Nullable Answer inTurn(RateLimitRequest request, Supplier<Decision> attempt, long end)
			throws InterruptedException {
		for (long wait = leastWait(request, 0, end); wait <= left(end); wait = leastWait(request, 0, end)) {
			if (wait > 0) {
				this.time.pass(Math.min(wait, LATEST), this.signal);
				this.signal.drainPermits();
			}
			Answer answer = ask(request, attempt);
			if (answer.isFinal()) {
				return answer;
			}
			learn(answer, request, 0);
		}
		return null;
	}

	private long left(long end) {
		return end - this.time.nanoTime();
	}

	private Answer ask(RateLimitRequest request, Supplier<Decision> attempt) {
		return new Answer(request, attempt.get(), this.time.nanoTime());
	}

	private synchronized boolean isEmpty() {
		return this.waiting == 0;
	}

	/** Joins the line, unless it moves too slowly. */
	private synchronized boolean join(@Nullable Answer answer, RateLimitRequest request, long end) {
		learn(answer, request, 0);
		boolean inTime = leastWait(request, this.costs, end) <= left(end);
		learn(null, request, inTime ? 1 : 0);
		return inTime;
	}

	/** Keeps an answer, and adds a request to those in line, or removes it. */
	private synchronized void learn(@Nullable Answer answer, RateLimitRequest request, int change) {
		this.last = (answer != null) ? answer : this.last;
		this.waiting += change;
		this.costs += change * request.charges().stream().mapToLong(Charge::cost).min().orElseThrow();
	}

	/** Returns how long a request waits at least if the costs ahead of it are used. */
	private synchronized long leastWait(RateLimitRequest request, long ahead, long end) {
		long passed = this.time.nanoTime() - this.last.at();
		long wait = Math.max(nanos(this.last.decision().blockedFor()), this.last.isOf(request) ? EARLIEST : 0);
		for (LimitStatus status : this.last.decision().statuses()) {
			long next = leastWait(status, request, ahead);
			boolean calls = status.policy().algorithm().countsCalls();
			wait = Math.max(wait, calls ? Math.min(next, passed + Math.max(1, left(end))) : next);
		}
		return Math.max(0, wait - passed);
	}

	/** Returns the same for one limit, since the store has answered. */
	private long leastWait(LimitStatus status, RateLimitRequest request, long ahead) {
		long retryAfter = status.violated() ? nanos(status.retryAfter()) : 0;
		if (status.policy().algorithm().countsCalls()) {
			return Math.min(retryAfter, SOON);
		}
		boolean own = this.last.isOf(request);
		if (own && ahead == 0) {
			return retryAfter;
		}
		long wait = own ? retryAfter : 0;
		for (Charge charge : request.charges()) {
			// A lease does not know what others have given back.
			if (charge.policy().name().equals(status.policy().name())
					&& this.last.decision().source() != Source.LEASE) {
				wait = Math.max(wait, arrival(status, ahead, charge.cost()));
			}
		}
		return wait;
	}

	/**
	 * Returns when a cost has arrived at the earliest, after that of others: by the model
	 * of the algorithm, from a full count, and by whole windows beyond that.
	 */
	private static long arrival(LimitStatus status, long ahead, long cost) {
		Policy policy = status.policy();
		long most = policy.algorithm().largestCost(status.limit());
		long missing = ahead + cost - status.remaining();
		if (missing <= 0 || cost > most || most == 0) {
			return (missing <= 0) ? 0 : NEVER;
		}
		long rest = (missing - 1) % most + 1;
		double windows = (double) (missing - rest) / status.limit().quota();
		int limit = policy.limits().indexOf(status.limit());
		Meter full = meter(policy, most);
		long first = full.retryAfter(limit, 1);
		// With sliding-window-counter, the use of what remains lets more arrive earlier.
		boolean known = status.remaining() == 0 || meter(policy, 1).retryAfter(limit, most) <= first;
		return (known ? nanos(status.resetAfter()) : 0) + 1000 * (full.retryAfter(limit, rest) - first)
				+ (long) Math.min(NEVER, windows * shortestWindow(policy.algorithm(), status.limit()));
	}

	/** A day may be 3 hours shorter than another. */
	private static long shortestWindow(Algorithm algorithm, Limit limit) {
		if (!algorithm.followsCalendar(limit)) {
			return limit.window().toNanos();
		}
		int days = (limit.calendar() == ChronoUnit.MONTHS) ? 3 : (limit.calendar() == ChronoUnit.YEARS) ? 1 : 0;
		return limit.window().minusDays(days).minusHours(3).toNanos();
	}

	private static Meter meter(Policy policy, long used) {
		Meter meter = policy.algorithm().meter(policy.limits(), null, 0);
		meter.add(used, "");
		return meter;
	}

	/**
	 * Denies a request that would come after those in line. If nothing that is known
	 * denies it, the store is asked without waiting.
	 */
	private Decision refusal(RateLimitRequest request, Supplier<Decision> attempt) {
		Decision refusal = refusal(request);
		return (refusal.violated().isEmpty() && refusal.blockedFor() == null) ? attempt.get() : refusal;
	}

	private synchronized Decision refusal(RateLimitRequest request) {
		Decision known = this.last.decision();
		if (this.last.isOf(request) && this.waiting == 0) {
			return known;
		}
		long passed = this.time.nanoTime() - this.last.at();
		long blocked = nanos(known.blockedFor()) - passed;
		return new Decision(false, known.statuses().stream().map((status) -> {
			long wait = leastWait(status, request, this.costs);
			return LimitStatus.ofMicros(status.policy(), status.identifier(), status.limit(), status.remaining(),
					micros(nanos(status.resetAfter()) - passed), (wait < NEVER) ? micros(wait - passed) : -1,
					wait > passed);
		}).toList(), (blocked > 0) ? Duration.ofNanos(blocked) : null, Source.DENIAL_CACHE);
	}

	private static long nanos(@Nullable Duration time) {
		return (time != null) ? time.toNanos() : 0;
	}

	/** Rounds up, so that whoever comes back then is not too early. */
	private static long micros(long nanos) {
		return (Math.max(0, nanos) + 999) / 1000;
	}

	/** What the store has said to a request, and when. */
	private record Answer(@Nullable RateLimitRequest request, Decision decision, long at) {

		boolean isOf(RateLimitRequest request) {
			return this.request == request;
		}

		/** Returns whether time changes nothing: it is allowed, or never will be. */
		boolean isFinal() {
			return this.decision.allowed() || this.decision.retryAfter().isEmpty();
		}

	}

}
