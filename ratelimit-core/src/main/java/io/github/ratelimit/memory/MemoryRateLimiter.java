package io.github.ratelimit.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongFunction;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Meter;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.Reservation;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.memory.Counts.Key;
import org.jspecify.annotations.Nullable;

/**
 * A rate limiter that keeps its counts in the memory of this process, for tests and for a
 * single instance. Its decisions are the same as those of the store in Redis.
 * <p>
 * One request is decided at a time. Counts that no longer matter are removed, a few with
 * each request, so that memory use follows the number of active identifiers and no
 * request waits long.
 * <p>
 * A count takes some hundred bytes, except with algorithms that keep entries:
 * {@code sliding-log} takes 16 to 64 bytes for each request of its longest window, or 24
 * to 96 and the text with metadata; {@code sliding-window} takes 16 to 64 bytes for each
 * sub-window in use. One identifier with a quota of 100,000 may take 6 MB. A decision
 * does not copy a log, except with metadata or after the clock was set back, so its time
 * hardly depends on the quota. A log is rewritten from time to time.
 */
public final class MemoryRateLimiter implements RateLimiter, BlockList, RequestHistory {

	private final InstantSource clock;

	private final Lock lock = new ReentrantLock();

	private final Counts counts;

	private final MemoryBlocks blocks = new MemoryBlocks();

	private final PenaltyListener penaltyListener;

	/**
	 * Creates an empty rate limiter. The clock is {@code InstantSource.system()}, or a
	 * fixed one in tests.
	 */
	public MemoryRateLimiter(InstantSource clock) {
		this(clock, Integer.MAX_VALUE);
	}

	/**
	 * Creates an empty rate limiter with a bounded number of counts. If there are too
	 * many, the least recently used ones are removed, which grants their quotas again.
	 * This bounds the memory if the policies bound the size of a count.
	 * @param maxCounts the maximum number of counts, one for each policy and identifier,
	 * at least 1
	 * @throws IllegalArgumentException if the number is less than 1
	 */
	public MemoryRateLimiter(InstantSource clock, int maxCounts) {
		this(clock, maxCounts, (block, shadow) -> {
		});
	}

	/**
	 * Creates an empty rate limiter as {@link #MemoryRateLimiter(InstantSource, int)}.
	 * The denials of an identifier that lead to a {@link Penalty} are such a count as
	 * well; blocks are not removed.
	 * @param penaltyListener is notified of penalties, while no other request is decided
	 * @throws IllegalArgumentException if the number is less than 1
	 */
	public MemoryRateLimiter(InstantSource clock, int maxCounts, PenaltyListener penaltyListener) {
		if (maxCounts < 1) {
			throw new IllegalArgumentException(
					"Invalid number of counts (%s): must be at least 1.".formatted(maxCounts));
		}
		this.clock = clock;
		this.counts = new Counts(maxCounts);
		this.penaltyListener = penaltyListener;
	}

	@Override
	public void requireSupported(Policy policy) {
		// All algorithms and penalties are.
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return locked((now) -> decide(request, now, true));
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return locked((now) -> decide(request, now, false));
	}

	@Override
	public void refund(RateLimitRequest request) {
		change(request, false, (check) -> check.meter.refund(check.charge.cost()));
	}

	@Override
	public void charge(RateLimitRequest request) {
		change(request.withPossibleCosts(), true,
				(check) -> check.meter.charge(check.charge.cost(), request.metadata()));
	}

	@Override
	public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
		change(RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost)), false,
				(check) -> check.meter.cancel(cost, Meter.micros(reservedAt)));
	}

	/**
	 * Changes the counts of a request, also those that do not exist if it creates them.
	 */
	private void change(RateLimitRequest request, boolean creates, Consumer<Check> change) {
		locked((now) -> {
			for (Check check : checks(request, request.charges(), now)) {
				if (check.charge.cost() > 0 && (creates || this.counts.get(check.key) != null)) {
					change.accept(check);
					save(check, now);
				}
			}
			return request;
		});
	}

	@Override
	public Reservation reserve(Policy policy, Identifier identifier, long cost) {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, identifier).withCost(cost));
		return locked((now) -> {
			Decision decision = decide(request, now, true);
			return new Reservation(decision, decision.allowed() ? Instant.EPOCH.plus(now, ChronoUnit.MICROS) : null);
		});
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		locked((now) -> {
			this.counts.remove(Key.of(policy, identifier));
			this.counts.remove(Key.ofDenials(policy, identifier));
			return policy;
		});
	}

	@Override
	public void countDenials(List<Charge> denials) {
		locked((now) -> {
			for (Charge charge : denials) {
				Penalty penalty = charge.policy().penalty();
				for (Identifier identifier : (penalty != null) ? charge.identifiers() : List.<Identifier>of()) {
					if (this.blocks.end(identifier, charge.policy().name()) <= now) {
						penalize(charge, identifier, charge.cost(), now);
					}
				}
			}
			return denials;
		});
	}

	int size() {
		return locked((now) -> this.counts.size());
	}

	@Override
	public List<LogEntry> entries(Policy policy, Identifier identifier, int most, @Nullable Instant before) {
		RequestHistory.requireEntries(policy, most);
		long micros = (before != null) ? Meter.micros(before) : Long.MAX_VALUE;
		return locked((now) -> meter(policy, Key.of(policy, identifier), now).entries(most, micros));
	}

	@Override
	public List<WindowCount> series(Policy policy, Identifier identifier) {
		RequestHistory.requireWindows(policy);
		return locked((now) -> meter(policy, Key.of(policy, identifier), now).series());
	}

	@Override
	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
		BlockList.requireValid(policy);
		BlockList.requireValid(time, reason);
		return locked((now) -> this.blocks.add(identifier, policy, time, reason, now));
	}

	@Override
	public void pause(Identifier identifier, String policy, Duration time) {
		BlockList.requireValid(policy);
		BlockList.requireValid(time, "");
		locked((now) -> this.blocks.pause(identifier, policy, time, now));
	}

	@Override
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		BlockList.requireValid(policy);
		return locked((now) -> this.blocks.remove(identifier, policy, now));
	}

	@Override
	public List<Block> blocks() {
		return locked((now) -> this.blocks.list(now));
	}

	private <T> T locked(LongFunction<T> action) {
		this.lock.lock();
		try {
			return action.apply(Meter.micros(this.clock.instant()));
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A charge in shadow mode is decided as if it were alone, after the others. */
	private Decision decide(RateLimitRequest request, long now, boolean acquire) {
		Decision decision = decide(request, request.enforced(), now, acquire, true);
		return decision.withShadows(request.shadows(),
				(charge) -> decide(request, List.of(charge), now, acquire, decision.allowed()));
	}

	/**
	 * @param counted whether they, or their denial, may count
	 */
	private Decision decide(RateLimitRequest request, List<Charge> charges, long now, boolean acquire,
			boolean counted) {
		List<Check> checks = checks(request, charges, now);
		long blocked = 0;
		boolean fits = true;
		boolean possible = true;
		for (Check check : checks) {
			check.blocked = Math.max(0, this.blocks.end(check.key.identifier(), check.key.policy()) - now);
			blocked = Math.max(blocked, check.blocked);
			for (long wait : check.waits) {
				fits = fits && wait == 0;
				possible = possible && wait != Check.NEVER;
			}
		}
		boolean allowed = fits && blocked == 0;
		List<LimitStatus> statuses = new ArrayList<>();
		for (Check check : checks) {
			boolean acquires = acquire && check.charge.cost() > 0;
			boolean counts = acquires && counted
					&& (allowed || (check.charge.policy().countDenied() && possible && blocked == 0));
			if (counts) {
				check.meter.add(check.charge.cost(), request.metadata());
			}
			// A state corrected after the clock was set back is stored even if the
			// request is denied, because otherwise it would remain invalid.
			if (counts || (acquires && check.meter.corrected())) {
				save(check, now);
			}
			check.addStatuses(statuses, counts && !allowed);
		}
		for (Check check : checks) {
			if (acquire && counted && check.isCountedDenial()) {
				blocked = Math.max(blocked, penalize(check.charge, check.key.identifier(), 1, now));
			}
		}
		return new Decision(allowed, statuses, (blocked > 0) ? Duration.of(blocked, ChronoUnit.MICROS) : null);
	}

	/**
	 * Counts denials of an identifier that is not blocked. Returns for how long it is
	 * now.
	 */
	private long penalize(Charge charge, Identifier identifier, long denials, long now) {
		Policy policy = charge.policy();
		Penalty penalty = Objects.requireNonNull(policy.penalty());
		boolean shadow = penalty.shadow() || charge.shadow();
		Key key = Key.ofDenials(policy, identifier);
		Denials present = new Denials(penalty, this.counts.get(key), now);
		if (shadow && present.isPenalized()) {
			return 0;
		}
		long length = present.add(denials);
		this.counts.put(key, present.state(), now, present.ttl());
		if (length > 0) {
			String reason = penalty.reason(policy.name());
			Duration time = Duration.of(length, ChronoUnit.MICROS);
			Block block = shadow ? new Block(identifier, policy.name(), MemoryBlocks.instant(now).plus(time), reason)
					: this.blocks.add(identifier, policy.name(), time, reason, now);
			this.penaltyListener.penalized(block, shadow);
		}
		return shadow ? 0 : length;
	}

	private List<Check> checks(RateLimitRequest request, List<Charge> charges, long now) {
		List<Check> checks = new ArrayList<>();
		for (Charge charge : charges) {
			for (Identifier identifier : charge.identifiers()) {
				Key key = Key.of(charge.policy(), identifier);
				checks.add(new Check(key, charge, meter(charge.policy(), key, now).ofCall(request.call())));
			}
		}
		return checks;
	}

	private Meter meter(Policy policy, Key key, long now) {
		return policy.algorithm().meter(policy.limits(), this.counts.get(key), now);
	}

	private void save(Check check, long now) {
		long ttl = check.meter.ttl();
		if (ttl > 0) {
			this.counts.put(check.key, check.meter.state(), now, ttl);
		}
		else {
			this.counts.remove(check.key);
		}
	}

}
