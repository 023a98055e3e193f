package io.github.ratelimit.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.WindowCount;
import org.jspecify.annotations.Nullable;

/**
 * A rate limiter that keeps its counts in the memory of this process, for tests and for a
 * single instance. It decides exactly as the store in Redis does.
 * <p>
 * One request is decided at a time. After as many requests as there are counts, those
 * that no longer matter are swept away, a few with each request, so that memory follows
 * the number of identifiers that are active and no request waits for long.
 * <p>
 * A count is some hundred bytes, but for the algorithms that keep entries:
 * {@code sliding-log} takes 16 to 64 bytes for each request of its longest window, with
 * metadata 24 to 96 and the text, and {@code sliding-window} 16 to 64 bytes for each
 * sub-window in use. So one identifier with a quota of 100,000 may take 6 MB. A decision
 * does not copy a log, so that it takes about as long at large quotas as at small ones;
 * now and then one writes the log anew. Where the clock was set back, and with metadata,
 * it is copied each time.
 *
 * @since 0.1
 */
public final class MemoryRateLimiter implements RateLimiter, BlockList, RequestHistory {

	private static final int NEVER = -1;

	private static final int SMALLEST_SWEEP = 1024;

	/** How many counts a request looks at while they are swept. */
	private static final int SWEEP_STEP = 32;

	private final InstantSource clock;

	private final Lock lock = new ReentrantLock();

	private final Map<Key, Entry> entries;

	private final MemoryBlocks blocks = new MemoryBlocks();

	/** All counts in the order in which they are swept, and some that are gone. */
	private final Queue<Entry> sweepOrder = new ArrayDeque<>();

	private int savesUntilSweep = SMALLEST_SWEEP;

	/** How many counts of the present sweep are still to be looked at. */
	private int toSweep;

	/**
	 * Creates an empty rate limiter.
	 * @param clock where the time comes from: {@code InstantSource.system()}, or a fixed
	 * time in tests
	 */
	public MemoryRateLimiter(InstantSource clock) {
		this.clock = clock;
		this.entries = new HashMap<>();
	}

	/**
	 * Creates an empty rate limiter whose number of counts is bounded: of too many, those
	 * that were used least recently are forgotten, which grants their quotas again. That
	 * bounds its memory as far as the policies bound what one count takes.
	 * @param clock where the time comes from
	 * @param maxCounts how many policies and identifiers are counted at most, at least 1
	 * @throws IllegalArgumentException if that is less than 1
	 */
	public MemoryRateLimiter(InstantSource clock, int maxCounts) {
		if (maxCounts < 1) {
			throw new IllegalArgumentException(
					"Invalid number of counts (%d): must be at least 1.".formatted(maxCounts));
		}
		this.clock = clock;
		this.entries = new LinkedHashMap<>(16, 0.75F, true) {

			private static final long serialVersionUID = 1L;

			@Override
			protected boolean removeEldestEntry(Map.Entry<Key, MemoryRateLimiter.Entry> eldest) {
				eldest.getValue().gone = size() > maxCounts;
				return eldest.getValue().gone;
			}

		};
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return decide(request, true);
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return decide(request, false);
	}

	@Override
	public void refund(RateLimitRequest request) {
		this.lock.lock();
		try {
			long now = now();
			for (Part part : load(request, now)) {
				if (part.charge.cost() > 0 && this.entries.containsKey(part.key)) {
					part.meter.refund(part.charge.cost());
					save(part, now);
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void charge(RateLimitRequest request) {
		this.lock.lock();
		try {
			long now = now();
			for (Part part : load(request.withPossibleCosts(), now)) {
				if (part.charge.cost() > 0) {
					part.meter.charge(part.charge.cost(), request.metadata());
					save(part, now);
				}
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		this.lock.lock();
		try {
			forget(Key.of(policy, identifier));
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Number of counts in memory, of which some may no longer matter. */
	int size() {
		this.lock.lock();
		try {
			return this.entries.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public List<LogEntry> entries(Policy policy, Identifier identifier, int most, @Nullable Instant before) {
		RequestHistory.requireEntries(policy, most);
		long micros = (before != null) ? Meter.micros(before) : Long.MAX_VALUE;
		return read(policy, identifier, (meter) -> meter.entries(most, micros));
	}

	@Override
	public List<WindowCount> series(Policy policy, Identifier identifier) {
		RequestHistory.requireWindows(policy);
		return read(policy, identifier, Meter::series);
	}

	private <T> T read(Policy policy, Identifier identifier, Function<Meter, T> reading) {
		this.lock.lock();
		try {
			return reading.apply(load(RateLimitRequest.of(policy, identifier), now()).get(0).meter);
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
		BlockList.requireValid(policy);
		BlockList.requireValid(time, reason);
		this.lock.lock();
		try {
			Instant now = Instant.EPOCH.plus(now(), ChronoUnit.MICROS);
			Block block = new Block(identifier, policy, now.plus(time.truncatedTo(ChronoUnit.MICROS)), reason);
			this.blocks.add(block, now);
			return block;
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		BlockList.requireValid(policy);
		this.lock.lock();
		try {
			return this.blocks.remove(identifier, policy, this.clock.instant());
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public List<Block> blocks() {
		this.lock.lock();
		try {
			return this.blocks.list(this.clock.instant());
		}
		finally {
			this.lock.unlock();
		}
	}

	private Decision decide(RateLimitRequest request, boolean acquire) {
		this.lock.lock();
		try {
			long now = now();
			List<Part> parts = load(request, now);
			long blocked = 0;
			boolean fits = true;
			boolean possible = true;
			List<Long> waits = new ArrayList<>();
			for (Part part : parts) {
				Instant end = this.blocks.end(part.identifier, part.charge.policy().name());
				blocked = Math.max(blocked, ChronoUnit.MICROS.between(Instant.EPOCH, end) - now);
				for (int i = 0; i < part.limits().size(); i++) {
					long wait = part.retryAfter(i);
					waits.add(wait);
					fits = fits && wait == 0;
					possible = possible && wait != NEVER;
				}
			}
			boolean allowed = fits && blocked <= 0;
			List<LimitStatus> statuses = new ArrayList<>(waits.size());
			for (Part part : parts) {
				boolean acquires = acquire && part.charge.cost() > 0;
				boolean counts = acquires
						&& (allowed || (part.charge.policy().countDenied() && possible && blocked <= 0));
				if (counts) {
					part.meter.add(part.charge.cost(), request.metadata());
				}
				// A state from a clock that was set back is stored even if the request
				// is denied: it would stay ahead.
				if (counts || (acquires && part.meter.corrected())) {
					save(part, now);
				}
				for (int i = 0; i < part.limits().size(); i++) {
					long before = waits.get(statuses.size());
					long wait = (counts && !allowed) ? part.retryAfter(i) : before;
					statuses.add(LimitStatus.ofMicros(part.charge.policy(), part.identifier, part.limits().get(i),
							part.meter.remaining(i), part.resetAfter(i), wait, before != 0));
				}
			}
			return new Decision(allowed, statuses, (blocked > 0) ? Duration.of(blocked, ChronoUnit.MICROS) : null);
		}
		finally {
			this.lock.unlock();
		}
	}

	private long now() {
		return Meter.micros(this.clock.instant());
	}

	private List<Part> load(RateLimitRequest request, long now) {
		List<Part> parts = new ArrayList<>();
		for (Charge charge : request.charges()) {
			Policy policy = charge.policy();
			for (Identifier identifier : charge.identifiers()) {
				Key key = Key.of(policy, identifier);
				Entry entry = this.entries.get(key);
				MeterState state = (entry != null) ? entry.state : null;
				parts.add(new Part(key, charge, identifier, policy.algorithm().meter(policy.limits(), state, now)));
			}
		}
		return parts;
	}

	private void save(Part part, long now) {
		long ttl = part.meter.ttl();
		if (ttl == 0) {
			forget(part.key);
			return;
		}
		Entry entry = this.entries.get(part.key);
		if (entry == null) {
			entry = new Entry(part.key);
			this.entries.put(part.key, entry);
			this.sweepOrder.add(entry);
		}
		entry.state = part.meter.state();
		entry.expiresAt = now + ttl;
		sweep(now);
	}

	private void forget(Key key) {
		Entry entry = this.entries.remove(key);
		if (entry != null) {
			entry.gone = true;
		}
	}

	private void sweep(long now) {
		this.savesUntilSweep--;
		if (this.savesUntilSweep == 0) {
			this.toSweep = this.sweepOrder.size();
		}
		for (int i = 0; i < SWEEP_STEP && this.toSweep > 0; i++) {
			Entry entry = this.sweepOrder.remove();
			if (!entry.gone && entry.expiresAt > now) {
				this.sweepOrder.add(entry);
			}
			else if (!entry.gone) {
				forget(entry.key);
			}
			this.toSweep--;
			if (this.toSweep == 0) {
				this.savesUntilSweep = Math.max(SMALLEST_SWEEP, this.entries.size());
			}
		}
	}

	/** What Redis keys are made of. */
	private record Key(Identifier identifier, String policy, String stateForm) {

		static Key of(Policy policy, Identifier identifier) {
			return new Key(identifier, policy.name(), policy.stateForm());
		}

	}

	/** One count. */
	private static final class Entry {

		private final Key key;

		private @Nullable MeterState state;

		private long expiresAt;

		/** Whether it is not one of the counts any more. */
		private boolean gone;

		private Entry(Key key) {
			this.key = key;
		}

	}

	/** One policy and identifier of a request. */
	private record Part(Key key, Charge charge, Identifier identifier, Meter meter) {

		List<Limit> limits() {
			return this.charge.policy().limits();
		}

		long retryAfter(int limit) {
			if (this.charge.cost() == 0) {
				return 0;
			}
			if (this.charge.cost() > largestCost(limit)) {
				return NEVER;
			}
			return this.meter.retryAfter(limit, this.charge.cost());
		}

		/** More quota has arrived when one more than what remains would be allowed. */
		long resetAfter(int limit) {
			long remaining = this.meter.remaining(limit);
			return (remaining < largestCost(limit)) ? this.meter.retryAfter(limit, remaining + 1) : 0;
		}

		private long largestCost(int limit) {
			return this.charge.policy().algorithm().largestCost(limits().get(limit));
		}

	}

}
