package io.github.ratelimit.spring.actuate;

import java.util.List;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.RateLimiterDecorator;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;

/**
 * Observes every call of the store that decides a request, as a span of the trace and a
 * timer, with the key values {@code outcome} ({@code allowed}, {@code denied},
 * {@code blocked}, {@code failed}) and {@code policies}, but no identifiers.
 * <p>
 * Safe for use by several threads.
 */
final class StoreObservation implements RateLimiterDecorator {

	private static final String OUTCOME = "outcome";

	/** Above this number, only the number of policies is given. */
	private static final int MAX_NAMES = 3;

	private final ObservationRegistry registry;

	StoreObservation(ObservationRegistry registry) {
		this.registry = registry;
	}

	@Override
	public RateLimiter decorate(RateLimiter limiter) {
		return this.registry.isNoop() ? limiter : new DelegatingRateLimiter(limiter) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				Observation observation = observation(request.charges());
				return observation.observe(() -> {
					String outcome = "failed";
					try {
						Decision decision = super.tryAcquire(request);
						outcome = outcome(decision);
						return decision;
					}
					finally {
						observation.lowCardinalityKeyValue(OUTCOME, outcome);
					}
				});
			}

		};
	}

	private Observation observation(List<Charge> charges) {
		String policies = (charges.size() > MAX_NAMES) ? charges.size() + " policies"
				: charges.stream().map((charge) -> charge.policy().name()).collect(Collectors.joining(", "));
		// The meter of calls in progress is tagged before they are decided.
		return Observation.createNotStarted("ratelimit.store", this.registry)
			.contextualName("ratelimit " + policies)
			.lowCardinalityKeyValue("policies", policies)
			.lowCardinalityKeyValue(OUTCOME, "unknown");
	}

	private static String outcome(Decision decision) {
		if (decision.allowed()) {
			return "allowed";
		}
		return (decision.blockedFor() != null) ? "blocked" : "denied";
	}

}
