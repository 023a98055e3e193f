package io.github.ratelimit.spring;

import io.github.ratelimit.outage.OnStoreFailure;
import org.jspecify.annotations.Nullable;

/**
 * How a policy is enforced, besides its limits.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param mode whether requests are denied
 * @param onStoreFailure what becomes of requests while the store fails; those of a policy
 * in shadow mode are allowed in any case
 * @param countWhen which responses count; {@code null} for all. What others have used is
 * given back when they are complete. Until then requests hold it: one that is denied, but
 * would be allowed if those that this instance serves gave back what they hold, is told
 * to try again after a second, because nobody knows how long they take
 * @param missing what becomes of requests that lack an identifier; a policy in shadow
 * mode does not deny them
 * @since 0.1
 */
public record Enforcement(Mode mode, OnStoreFailure onStoreFailure, @Nullable ResponseCondition countWhen,
		MissingIdentifier missing) {

	/**
	 * Requests beyond the limits are denied, and limited by each instance alone while the
	 * store fails. Those without any identifier are counted by their addresses.
	 */
	public static final Enforcement DEFAULT = new Enforcement(Mode.ENFORCE, OnStoreFailure.LOCAL, null);

	/**
	 * Returns whether a response counts.
	 * @param status the status code of the response
	 * @return whether what it has used remains used
	 */
	public boolean counts(int status) {
		return this.countWhen == null || this.countWhen.matches(status);
	}

	/**
	 * Creates an enforcement that counts requests without any identifier by their
	 * addresses.
	 * @param mode whether requests are denied
	 * @param onStoreFailure what becomes of requests while the store fails
	 * @param countWhen which responses count; {@code null} for all
	 */
	public Enforcement(Mode mode, OnStoreFailure onStoreFailure, @Nullable ResponseCondition countWhen) {
		this(mode, onStoreFailure, countWhen, MissingIdentifier.ADDRESS);
	}

	/** What becomes of requests while the store fails: shadow mode denies nothing. */
	public OnStoreFailure whenStoreFails() {
		return (this.mode == Mode.SHADOW) ? OnStoreFailure.ALLOW : this.onStoreFailure;
	}

}
