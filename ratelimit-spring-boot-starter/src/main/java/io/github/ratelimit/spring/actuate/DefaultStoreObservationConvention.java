package io.github.ratelimit.spring.actuate;

import java.util.List;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.micrometer.common.KeyValues;

/**
 * Names calls of the store {@code ratelimit.store}, with the key values {@code outcome}
 * ({@code allowed}, {@code denied}, {@code blocked}, {@code failed}) and
 * {@code policies}, but no identifiers.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class DefaultStoreObservationConvention implements StoreObservationConvention {

	/** Above this number, only the number of policies is given. */
	private static final int MAX_NAMES = 3;

	/**
	 * Creates a convention.
	 */
	public DefaultStoreObservationConvention() {
	}

	@Override
	public String getName() {
		return "ratelimit.store";
	}

	@Override
	public String getContextualName(StoreObservationContext context) {
		return "ratelimit " + policies(context);
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(StoreObservationContext context) {
		return KeyValues.of("outcome", outcome(context), "policies", policies(context));
	}

	private static String outcome(StoreObservationContext context) {
		Decision decision = context.getDecision();
		if (decision == null) {
			// The meter of calls in progress is tagged before they are decided.
			return (context.getError() != null) ? "failed" : "unknown";
		}
		if (decision.allowed()) {
			return "allowed";
		}
		return (decision.blockedFor() != null) ? "blocked" : "denied";
	}

	private static String policies(StoreObservationContext context) {
		List<Charge> charges = context.getRequest().charges();
		return (charges.size() > MAX_NAMES) ? charges.size() + " policies"
				: charges.stream().map((charge) -> charge.policy().name()).collect(Collectors.joining(", "));
	}

}
