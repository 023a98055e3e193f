package io.github.ratelimit.spring.policy;

import java.util.List;

import io.github.ratelimit.outage.OnStoreFailure;
import org.jspecify.annotations.Nullable;

/**
 * How a policy is enforced, besides its limits.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param mode whether requests are denied
 * @param onStoreFailure what happens to requests while the store fails; a policy in
 * shadow mode always allows them
 * @param countWhen which responses count; {@code null} for all. The cost of the others is
 * refunded when they are complete. If a request is denied only because of requests in
 * progress on this instance, whose cost may still be refunded, its retry-after is one
 * second, because their duration is unknown
 * @param missing what happens to requests that lack an identifier; a policy in shadow
 * mode does not deny them
 * @param enabled whether the policy limits anything; if not, it neither denies nor counts
 * @param resetWhen which responses remove counts; {@code null} for none
 * @param reset the identifiers of the policy whose counts they remove; empty without
 * {@code resetWhen}. No others are: who has an account can succeed at any time, and must
 * not clear what an address has used
 * @since 0.1
 */
public record Enforcement(Mode mode, OnStoreFailure onStoreFailure, @Nullable ResponseCondition countWhen,
		MissingIdentifier missing, boolean enabled, @Nullable ResponseCondition resetWhen, List<String> reset) {

	/**
	 * Requests beyond the limits are denied. While the store fails, each instance limits
	 * them alone. Requests without any identifier are counted by address.
	 */
	public static final Enforcement DEFAULT = new Enforcement(Mode.ENFORCE, OnStoreFailure.LOCAL, null);

	/**
	 * Creates an enforcement.
	 * @throws IllegalArgumentException if there is only one of {@code resetWhen} and
	 * {@code reset}
	 */
	public Enforcement {
		reset = List.copyOf(reset);
		if ((resetWhen != null) == reset.isEmpty()) {
			throw new IllegalArgumentException("Invalid reset %s: %s".formatted(reset, reset.isEmpty()
					? "must name the identifiers that start anew." : "has no effect without reset-when."));
		}
	}

	/** Returns whether a status code removes the count of an identifier, by its name. */
	public boolean resets(int status, String identifier) {
		return this.resetWhen != null && this.resetWhen.matches(status) && this.reset.contains(identifier);
	}

	/** Returns whether the cost of a response with a status code remains used. */
	public boolean counts(int status) {
		return this.countWhen == null || this.countWhen.matches(status);
	}

	/** Creates an enforcement of a policy that is enabled, and that nothing resets. */
	public Enforcement(Mode mode, OnStoreFailure onStoreFailure, @Nullable ResponseCondition countWhen,
			MissingIdentifier missing) {
		this(mode, onStoreFailure, countWhen, missing, true, null, List.of());
	}

	/** Creates an enforcement that counts requests without any identifier by address. */
	public Enforcement(Mode mode, OnStoreFailure onStoreFailure, @Nullable ResponseCondition countWhen) {
		this(mode, onStoreFailure, countWhen, MissingIdentifier.ADDRESS);
	}

	/** Returns the same enforcement of what no response decides over. */
	public Enforcement forAllResponses() {
		return new Enforcement(this.mode, this.onStoreFailure, null, this.missing, this.enabled, null, List.of());
	}

	/** Returns whether requests may be denied: not in shadow mode, nor if it is off. */
	public boolean denies() {
		return this.enabled && this.mode == Mode.ENFORCE;
	}

	/** Returns whether requests that lack an identifier are denied. */
	public boolean deniesMissing() {
		return denies() && this.missing == MissingIdentifier.DENY;
	}

	/** Returns what happens to requests while the store fails. */
	public OnStoreFailure whenStoreFails() {
		return denies() ? this.onStoreFailure : OnStoreFailure.ALLOW;
	}

}
