package io.github.ratelimit;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * The answer to one request: allowed or denied, with a status for each policy, identifier
 * and limit that was checked. Charges in shadow mode do not affect it; {@link #shadows()}
 * has a separate decision for each. A value; safe for use by several threads.
 *
 * @param allowed whether the request is allowed
 * @param statuses one status for each policy, identifier and limit, in the order of the
 * request and by ascending window. A decision that is not from the store has only the
 * statuses of violated limits, because the others are unknown
 * @param blockedFor how long an identifier of the request is still blocked, which denies
 * the request regardless of the limits; {@code null} if none is blocked
 * @param source where the decision comes from
 * @param shadows the decision for each charge in shadow mode alone, by the name of its
 * policy and in the order of the request; without unknown ones, as in denials from memory
 */
public record Decision(boolean allowed, List<LimitStatus> statuses, @Nullable Duration blockedFor, Source source,
		Map<String, Decision> shadows) {

	/** Where a decision comes from. */
	public enum Source {

		/** The counts in the store. */
		STORE,

		/** No counts: the store failed, and the policies allow requests then. */
		NONE,

		/** Counts in the memory of this process, because the store failed or was busy. */
		LOCAL,

		/**
		 * Memory of denials: the store has denied the same request before and cannot
		 * allow it yet, others {@linkplain io.github.ratelimit.waiting.WaitingRateLimiter
		 * wait} for so much quota, or a quota is 0, so that it is never allowed.
		 */
		DENIAL_CACHE,

		/**
		 * A part of the quota that this process took from the store in advance. All
		 * limits that may deny the request were decided so.
		 */
		LEASE

	}

	public Decision {
		statuses = List.copyOf(statuses);
		shadows = shadows.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(shadows));
	}

	/** Creates a decision without charges in shadow mode. */
	public Decision(boolean allowed, List<LimitStatus> statuses, @Nullable Duration blockedFor, Source source) {
		this(allowed, statuses, blockedFor, source, Map.of());
	}

	/** Creates a decision of the store without charges in shadow mode. */
	public Decision(boolean allowed, List<LimitStatus> statuses, @Nullable Duration blockedFor) {
		this(allowed, statuses, blockedFor, Source.STORE);
	}

	/** Creates a decision of the store about identifiers that are not blocked. */
	public Decision(boolean allowed, List<LimitStatus> statuses) {
		this(allowed, statuses, null);
	}

	/** Returns the decision to allow a request whose store failed, without statuses. */
	public static Decision withoutStore() {
		return new Decision(true, List.of(), null, Source.NONE);
	}

	/** Returns the same decision with those for the charges in shadow mode. */
	public Decision withShadows(List<Charge> charges, Function<Charge, Decision> alone) {
		if (charges.isEmpty()) {
			return this;
		}
		Map<String, Decision> shadows = new LinkedHashMap<>();
		charges.forEach((charge) -> shadows.put(charge.policy().name(), alone.apply(charge)));
		return new Decision(this.allowed, this.statuses, this.blockedFor, this.source, shadows);
	}

	/**
	 * Returns the decision for a charge in shadow mode alone; {@link #withoutStore()} if
	 * it is unknown.
	 */
	public Decision shadow(Charge charge) {
		return this.shadows.getOrDefault(charge.policy().name(), withoutStore());
	}

	/** Returns the statuses of the limits that denied the request; may be empty. */
	public List<LimitStatus> violated() {
		return this.allowed ? List.of() : this.statuses.stream().filter(LimitStatus::violated).toList();
	}

	/**
	 * Returns the shortest time after which the same request, alone, would be allowed:
	 * zero if it is allowed, empty if it never will be or the time is unknown.
	 */
	public Optional<Duration> retryAfter() {
		if (this.allowed) {
			return Optional.of(Duration.ZERO);
		}
		Duration longest = this.blockedFor;
		for (LimitStatus status : this.statuses) {
			Duration retryAfter = status.retryAfter();
			if (retryAfter == null) {
				return Optional.empty();
			}
			longest = (longest == null || retryAfter.compareTo(longest) > 0) ? retryAfter : longest;
		}
		return Optional.ofNullable(longest);
	}

}
