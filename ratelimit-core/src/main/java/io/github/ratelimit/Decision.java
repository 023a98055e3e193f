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
 * and limit that was checked.
 * <p>
 * Charges in shadow mode change nothing of this: what each of them would have come to
 * stands by itself in {@link #shadows()}.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param allowed whether the request is allowed
 * @param statuses one status for each policy, identifier and limit, in the order of the
 * request and by ascending window. A decision that is not the store's has only those of
 * violated limits, because the other numbers are not known
 * @param blockedFor how long an identifier of the request is still blocked, which denies
 * the request whatever the limits say; {@code null} if none is
 * @param source where the decision comes from
 * @param shadows what each charge in shadow mode came to alone, by the name of its policy
 * and in the order of the request; without those that are not known, as in denials from
 * memory
 * @since 0.1
 */
public record Decision(boolean allowed, List<LimitStatus> statuses, @Nullable Duration blockedFor, Source source,
		Map<String, Decision> shadows) {

	/**
	 * Where a decision comes from.
	 */
	public enum Source {

		/**
		 * The counts in the store.
		 */
		STORE,

		/**
		 * No counts: the store failed, and its policies allow requests then.
		 */
		NONE,

		/**
		 * Counts in the memory of this process, because the store failed or was too busy
		 * to decide in time.
		 */
		LOCAL,

		/**
		 * The memory of denials: the store has denied the same before, and could not
		 * allow it yet.
		 */
		DENIAL_CACHE

	}

	/**
	 * Creates a decision.
	 */
	public Decision {
		statuses = List.copyOf(statuses);
		shadows = shadows.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(shadows));
	}

	/**
	 * Creates a decision without charges in shadow mode.
	 * @param allowed whether the request is allowed
	 * @param statuses one status for each policy, identifier and limit
	 * @param blockedFor how long an identifier of the request is still blocked;
	 * {@code null} if none is
	 * @param source where the decision comes from
	 */
	public Decision(boolean allowed, List<LimitStatus> statuses, @Nullable Duration blockedFor, Source source) {
		this(allowed, statuses, blockedFor, source, Map.of());
	}

	/**
	 * Creates a decision of the store.
	 * @param allowed whether the request is allowed
	 * @param statuses one status for each policy, identifier and limit
	 * @param blockedFor how long an identifier of the request is still blocked;
	 * {@code null} if none is
	 */
	public Decision(boolean allowed, List<LimitStatus> statuses, @Nullable Duration blockedFor) {
		this(allowed, statuses, blockedFor, Source.STORE);
	}

	/**
	 * Creates a decision of the store about identifiers that are not blocked.
	 * @param allowed whether the request is allowed
	 * @param statuses one status for each policy, identifier and limit
	 */
	public Decision(boolean allowed, List<LimitStatus> statuses) {
		this(allowed, statuses, null);
	}

	/**
	 * Returns the decision to allow a request whose store failed.
	 * @return an allowed decision without statuses
	 */
	public static Decision withoutStore() {
		return new Decision(true, List.of(), null, Source.NONE);
	}

	/**
	 * Returns the same decision with what charges in shadow mode came to.
	 * @param charges the charges in shadow mode
	 * @param alone returns the decision over one of them alone
	 * @return this decision if there is no charge
	 */
	public Decision withShadows(List<Charge> charges, Function<Charge, Decision> alone) {
		if (charges.isEmpty()) {
			return this;
		}
		Map<String, Decision> shadows = new LinkedHashMap<>();
		charges.forEach((charge) -> shadows.put(charge.policy().name(), alone.apply(charge)));
		return new Decision(this.allowed, this.statuses, this.blockedFor, this.source, shadows);
	}

	/**
	 * Returns what a charge in shadow mode came to.
	 * @param charge a charge in shadow mode of the request
	 * @return the decision over it alone; if none is known, {@link #withoutStore()}
	 */
	public Decision shadow(Charge charge) {
		return this.shadows.getOrDefault(charge.policy().name(), withoutStore());
	}

	/**
	 * Returns the statuses of the limits that denied the request.
	 * @return the violated limits; empty if the request is allowed, or denied only
	 * because an identifier is blocked
	 */
	public List<LimitStatus> violated() {
		return this.allowed ? List.of() : this.statuses.stream().filter(LimitStatus::violated).toList();
	}

	/**
	 * Returns the shortest time after which the same request, alone, would be allowed.
	 * @return the longest time of the limits and the block; zero if the request is
	 * allowed, empty if it never will be or if that is not known
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
