package io.github.ratelimit.denial;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * The known denials.
 * <p>
 * Every use and refund drops those of a key. A store decides at an unknown time between
 * call and answer, so a denial is kept only if nothing was dropped in between. Stamps,
 * which increase with each drop, show this. Keys share stamps: at worst a denial is not
 * kept. Denials by calls are never kept, because a call may end at any moment.
 * <p>
 * Safe for use by several threads.
 */
final class DenialMemory {

	private static final int STAMPS = 1024;

	private final LongSupplier nanos;

	private final long maxAge;

	private final int maxCalls;

	private final Cache<Key, Verdicts> verdicts;

	/** Blocks by the key of a request, or by the list of its keys. */
	private final Cache<Object, Block> blocks;

	private final AtomicLongArray stamps = new AtomicLongArray(STAMPS);

	DenialMemory(Duration maxAge, long maxSize, int maxCalls, LongSupplier nanos) {
		this.nanos = nanos;
		this.maxAge = maxAge.toNanos();
		this.maxCalls = maxCalls;
		this.verdicts = Caffeine.newBuilder()
			.executor(Runnable::run)
			.maximumWeight(maxSize)
			.weigher((Key key, Verdicts known) -> known.verdicts().size())
			.build();
		this.blocks = Caffeine.newBuilder().executor(Runnable::run).maximumSize(maxSize).build();
	}

	/**
	 * Denies a request if the store is known to deny it. The retry-after may be too short
	 * if the store was asked too often.
	 */
	@Nullable Decision find(List<Charge> charges, Key[] keys, Function<Policy, Duration> maxAges) {
		long now = this.nanos.getAsLong();
		Block block = this.blocks.asMap().isEmpty() ? null : block(keys, now);
		long blocked = (block != null) ? Verdict.microsLeft(block.nanos(), now - block.since()) : 0;
		CallRate calls = (block != null && blocked > 0) ? block.calls() : null;
		List<LimitStatus> violated = List.of();
		boolean complete = true;
		int at = 0;
		for (int i = 0; i < charges.size(); i++) {
			Charge charge = charges.get(i);
			if (charge.policy().algorithm().countsCalls()) {
				at += charge.identifiers().size();
				continue;
			}
			for (int j = 0; j < charge.identifiers().size(); j++) {
				Identifier identifier = charge.identifiers().get(j);
				Verdicts known = known(keys[at++], charge.policy());
				if (known == null) {
					complete = false;
					continue;
				}
				long maxAge = Math.min(this.maxAge, maxAges.apply(charge.policy()).toNanos());
				Verdict verdict = known.find(charge.cost());
				List<LimitStatus> limits = (verdict != null) ? verdict.at(now, maxAge, charge.policy(), identifier)
						: null;
				complete = complete && verdict != null && limits != null && (block != null || !verdict.blocked());
				if (limits == null && isPossible(charge)) {
					limits = known.violatedByLess(charge.cost(), now, maxAge, identifier);
				}
				if (limits != null && !limits.isEmpty()) {
					violated = Verdict.concat(violated, limits);
					calls = (calls != null) ? calls : known.calls();
				}
			}
		}
		if (calls == null || (!complete && calls.tryCall(now, this.maxCalls))) {
			return null;
		}
		return new Decision(false, violated, (blocked > 0) ? Duration.of(blocked, ChronoUnit.MICROS) : null,
				Source.DENIAL_CACHE);
	}

	private @Nullable Verdicts known(Key key, Policy policy) {
		Verdicts known = this.verdicts.getIfPresent(key);
		return (known != null && known.policy().equals(policy)) ? known : null;
	}

	/** Returns whether all limits can ever allow the cost. */
	private static boolean isPossible(Charge charge) {
		for (Limit limit : charge.policy().limits()) {
			if (charge.cost() > charge.policy().algorithm().largestCost(limit)) {
				return false;
			}
		}
		return true;
	}

	private @Nullable Block block(Key[] keys, long now) {
		Block block = this.blocks.getIfPresent(key(keys));
		return (block != null && now - block.since() < this.maxAge) ? block : null;
	}

	private static Object key(Key[] keys) {
		return (keys.length == 1) ? keys[0] : List.of(keys);
	}

	/** Drops the denials of a key whose count may have changed. */
	void forget(Key key) {
		this.stamps.incrementAndGet(stamp(key));
		this.verdicts.invalidate(key);
	}

	private static int stamp(Key key) {
		int hash = key.hashCode();
		return (hash ^ hash >>> 16) & STAMPS - 1;
	}

	/** A call of the store, with the stamps from before it. */
	final class Call {

		private final List<Charge> charges;

		private final Key[] keys;

		private final long since = DenialMemory.this.nanos.getAsLong();

		private final long[] stamps;

		Call(List<Charge> charges, Key[] keys) {
			this.charges = charges;
			this.keys = keys;
			this.stamps = new long[keys.length];
			for (int i = 0; i < keys.length; i++) {
				this.stamps[i] = DenialMemory.this.stamps.get(stamp(keys[i]));
			}
		}

		/**
		 * Records that the store has denied the request. What limits of another policy
		 * have denied says nothing about those of the request.
		 */
		void denied(Decision decision) {
			int at = 0;
			for (Charge charge : this.charges) {
				for (Identifier identifier : charge.identifiers()) {
					List<LimitStatus> violated = decision.violated()
						.stream()
						.filter((status) -> status.policy().name().equals(charge.policy().name())
								&& status.identifier().equals(identifier))
						.toList();
					if (!charge.policy().algorithm().countsCalls()
							&& violated.stream().allMatch((status) -> status.policy().equals(charge.policy()))) {
						remember(at, charge.policy(), new Verdict(charge.cost(), charge.policy(), violated, this.since,
								decision.blockedFor() != null));
					}
					at++;
				}
			}
			if (decision.blockedFor() != null) {
				Block known = block(this.keys, this.since);
				DenialMemory.this.blocks.put(key(this.keys),
						new Block(TimeUnit.NANOSECONDS.convert(decision.blockedFor()), this.since,
								(known != null) ? known.calls() : new CallRate()));
			}
		}

		/**
		 * Does nothing if a stamp has increased; a concurrent drop waits for the cache.
		 */
		private void remember(int at, Policy policy, Verdict verdict) {
			DenialMemory.this.verdicts.asMap().compute(this.keys[at], (key, before) -> {
				Verdicts known = (before != null && before.policy().equals(policy)) ? before : null;
				if (DenialMemory.this.stamps.get(stamp(key)) != this.stamps[at]) {
					return known;
				}
				return ((known != null) ? known : new Verdicts(policy, List.of(), new CallRate())).with(verdict);
			});
		}

	}

	/**
	 * A block of one of the keys of a request.
	 *
	 * @param nanos how long it lasts, in nanoseconds
	 * @param since a time before the store was asked, in nanoseconds
	 */
	private record Block(long nanos, long since, CallRate calls) {

	}

	/** How often the store was recently asked about requests that it certainly denies. */
	static final class CallRate {

		private static final long SECOND = 1_000_000_000;

		private long since;

		private int calls;

		/** Counts one more call, unless there were too many in this second. */
		synchronized boolean tryCall(long now, int maxCalls) {
			if (this.calls == 0 || now - this.since >= SECOND) {
				this.since = now;
				this.calls = 0;
			}
			if (this.calls >= maxCalls) {
				return false;
			}
			this.calls++;
			return true;
		}

	}

}
