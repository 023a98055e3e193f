package io.github.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The answer to one request: allowed or denied, with a status for each policy, identifier
 * and limit that was checked.
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
 * @since 0.1
 */
public record Decision(boolean allowed, List<LimitStatus> statuses, @Nullable Duration blockedFor, Source source) {

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
		 * allow it yet; or a quota is 0, so that no store ever would.
		 */
		DENIAL_CACHE

	}

	/**
	 * Creates a decision.
	 */
	public Decision {
		statuses = List.copyOf(statuses);
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
