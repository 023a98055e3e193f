package io.github.ratelimit.denial;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;

/**
 * The known denials. Safe for use by several threads.
 * <p>
 * Every use and refund of a count increases its stamp. A store decides at an unknown time
 * between call and answer, so a denial is valid only while the stamps are those from
 * before the call. Counts share stamps: at worst a denial is forgotten too early. Denials
 * by calls are never kept, because a call may end at any moment.
 */
final class DenialMemory {

	private static final int STAMPS = 1 << 14;

	private final LongSupplier nanos;

	private final long maxAge;

	private final int maxCalls;

	private final Cache<Key, Verdict> verdicts;

	private final Cache<List<Charge>, Block> blocks;

	/** How often the store was asked in a second about a blocked request or a count. */
	private final Cache<Object, AtomicInteger> calls;

	private final AtomicLongArray stamps = new AtomicLongArray(STAMPS);

	/** How often all was forgotten, because blocks have changed. */
	private final AtomicLong changes = new AtomicLong();

	DenialMemory(Duration maxAge, long maxSize, int maxCalls, LongSupplier nanos) {
		this.nanos = nanos;
		this.maxAge = maxAge.toNanos();
		this.maxCalls = maxCalls;
		this.verdicts = bounded(maxSize).build();
		this.blocks = bounded(maxSize).build();
		this.calls = bounded(maxSize).expireAfterWrite(1, TimeUnit.SECONDS).ticker(nanos::getAsLong).build();
	}

	private static Caffeine<Object, Object> bounded(long size) {
		return Caffeine.newBuilder().executor(Runnable::run).maximumSize(size);
	}

	/** Denies a request if the store is known to, with the longest time that is known. */
	@Nullable Decision find(List<Charge> charges, Function<Policy, Duration> maxAges) {
		long now = this.nanos.getAsLong();
		Block block = block(charges, now);
		List<LimitStatus> violated = List.of();
		boolean complete = true;
		for (int c = 0; c < charges.size(); c++) {
			Charge charge = charges.get(c);
			if (!charge.policy().algorithm().countsCalls()) {
				long maxAge = Math.min(this.maxAge, maxAges.apply(charge.policy()).toNanos());
				for (int i = 0; i < charge.identifiers().size(); i++) {
					Verdict verdict = verdict(charge, charge.identifiers().get(i));
					List<LimitStatus> limits = (verdict != null) ? verdict.at(now, maxAge) : null;
					if (verdict == null || limits == null) {
						complete = false;
						continue;
					}
					complete = complete && (block != null || !verdict.blocked());
					if (!limits.isEmpty()) {
						violated = violated.isEmpty() ? new ArrayList<>() : violated;
						violated.addAll(limits);
					}
				}
			}
		}
		if (block == null && violated.isEmpty()) {
			return null;
		}
		Object asked = (block != null) ? charges : Key.ofAny(violated.get(0));
		if (!complete && this.calls.get(asked, (first) -> new AtomicInteger()).getAndIncrement() < this.maxCalls) {
			return null;
		}
		return new Decision(false, violated,
				(block != null) ? Duration.of(block.microsLeft(now), ChronoUnit.MICROS) : null, Source.DENIAL_CACHE);
	}

	private @Nullable Block block(List<Charge> charges, long now) {
		Block block = this.blocks.asMap().isEmpty() ? null : this.blocks.getIfPresent(charges);
		return (block != null && block.stamp() == this.changes.get() && now - block.since() < this.maxAge
				&& block.microsLeft(now) > 0) ? block : null;
	}

	private @Nullable Verdict verdict(Charge charge, Identifier identifier) {
		Verdict known = this.verdicts.getIfPresent(new Key(charge.policy().name(), identifier, charge.cost()));
		return (known != null && known.policy().equals(charge.policy())
				&& known.stamp() == stamp(charge.policy(), identifier)) ? known : null;
	}

	void forget(List<Charge> charges) {
		for (int c = 0; c < charges.size(); c++) {
			Charge charge = charges.get(c);
			for (int i = 0; i < charge.identifiers().size(); i++) {
				forget(charge.policy(), charge.identifiers().get(i));
			}
		}
	}

	void forget(Policy policy, Identifier identifier) {
		this.stamps.incrementAndGet(index(policy, identifier));
	}

	/** Forgets all denials, because blocks have changed. */
	void forgetAll() {
		this.changes.incrementAndGet();
	}

	/** Both grow, so that no two sums from before and after a change are equal. */
	private long stamp(Policy policy, Identifier identifier) {
		return this.changes.get() + this.stamps.get(index(policy, identifier));
	}

	/** Policies of the same name share their counts, whatever their quotas. */
	private static int index(Policy policy, Identifier identifier) {
		int hash = 31 * policy.name().hashCode() + identifier.hashCode();
		return (hash ^ hash >>> 16) & STAMPS - 1;
	}

	/** A call of the store, with the stamps from before it. */
	final class Call {

		private final List<Charge> charges;

		private final long since = DenialMemory.this.nanos.getAsLong();

		private final long changes = DenialMemory.this.changes.get();

		private final long[] stamps;

		Call(List<Charge> charges) {
			this.charges = charges;
			int size = 0;
			for (int c = 0; c < charges.size(); c++) {
				size += charges.get(c).identifiers().size();
			}
			this.stamps = new long[size];
			int at = 0;
			for (int c = 0; c < charges.size(); c++) {
				Charge charge = charges.get(c);
				for (int i = 0; i < charge.identifiers().size(); i++) {
					this.stamps[at++] = stamp(charge.policy(), charge.identifiers().get(i));
				}
			}
		}

		/**
		 * Records that the store has denied the request. What limits of another policy
		 * have denied says nothing about those of the request.
		 */
		void denied(Decision decision) {
			Duration blocked = decision.blockedFor();
			int at = 0;
			for (Charge charge : this.charges) {
				Policy policy = charge.policy();
				for (Identifier identifier : charge.identifiers()) {
					long stamp = this.stamps[at++];
					List<LimitStatus> violated = decision.violated()
						.stream()
						.filter((status) -> status.policy().name().equals(policy.name())
								&& status.identifier().equals(identifier))
						.toList();
					if (!policy.algorithm().countsCalls()
							&& violated.stream().allMatch((status) -> status.policy().equals(policy))) {
						DenialMemory.this.verdicts.put(new Key(policy.name(), identifier, charge.cost()),
								new Verdict(policy, violated, blocked != null, this.since, stamp));
					}
				}
			}
			if (blocked != null) {
				DenialMemory.this.blocks.put(this.charges, new Block(blocked, this.since, this.changes));
			}
		}

	}

	/** Policies of the same name share it, whatever their quotas. */
	private record Key(String policy, Identifier identifier, long cost) {

		static Key ofAny(LimitStatus status) {
			return new Key(status.policy().name(), status.identifier(), -1);
		}

	}

	/**
	 * A block of one of the identifiers of a request.
	 *
	 * @param time how long it lasts
	 * @param since a time before the store was asked, in nanoseconds
	 * @param stamp how often all was forgotten before
	 */
	private record Block(Duration time, long since, long stamp) {

		long microsLeft(long now) {
			return Verdict.microsLeft(this.time, now - this.since);
		}

	}

	/**
	 * What a denial by the store says of one policy, identifier and cost.
	 *
	 * @param policy the policy; a verdict does not apply to other quotas
	 * @param violated the limits of the identifier that denied the request; may be empty
	 * @param blocked whether an identifier of the request was blocked as well
	 * @param since a time before the store was asked, in nanoseconds
	 * @param stamp the stamp of the count at that time
	 */
	private record Verdict(Policy policy, List<LimitStatus> violated, boolean blocked, long since, long stamp) {

		private static final long NEVER = -1;

		/**
		 * Returns the limits that still deny the cost, with the times that are left;
		 * {@code null} if the verdict is too old, or quota has arrived.
		 */
		@Nullable List<LimitStatus> at(long now, long maxAge) {
			long passed = now - this.since;
			if (passed >= maxAge) {
				return null;
			}
			List<LimitStatus> left = new ArrayList<>(this.violated.size());
			for (int i = 0; i < this.violated.size(); i++) {
				LimitStatus status = this.violated.get(i);
				Duration wait = status.retryAfter();
				long retryAfter = (wait != null) ? microsLeft(wait, passed) : NEVER;
				long resetAfter = microsLeft(status.resetAfter(), passed);
				if (retryAfter != 0) {
					if (resetAfter == 0 && !status.resetAfter().isZero()) {
						return null;
					}
					left.add(LimitStatus.ofMicros(this.policy, status.identifier(), status.limit(), status.remaining(),
							resetAfter, retryAfter, true));
				}
			}
			return left;
		}

		/** Returns what is left of a time, rounded up to microseconds. */
		static long microsLeft(Duration time, long passed) {
			return (Math.max(0, TimeUnit.NANOSECONDS.convert(time) - passed) + 999) / 1000;
		}

	}

}
