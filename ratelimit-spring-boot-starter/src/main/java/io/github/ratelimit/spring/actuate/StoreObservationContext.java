package io.github.ratelimit.spring.actuate;

import io.github.ratelimit.Decision;
import io.github.ratelimit.RateLimitRequest;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/**
 * The context of an observed call of the store that decides a request.
 * <p>
 * Used by one thread.
 *
 * @since 0.1
 */
public final class StoreObservationContext extends Observation.Context {

	private final RateLimitRequest request;

	private @Nullable Decision decision;

	public StoreObservationContext(RateLimitRequest request) {
		this.request = request;
	}

	/**
	 * Returns the request that is decided. Its identifiers may be personal data: do not
	 * put them into traces.
	 * @return the request
	 */
	public RateLimitRequest getRequest() {
		return this.request;
	}

	/**
	 * Returns the decision.
	 * @return the decision; {@code null} before the store has answered, and if it failed
	 */
	public @Nullable Decision getDecision() {
		return this.decision;
	}

	public void setDecision(Decision decision) {
		this.decision = decision;
	}

}
