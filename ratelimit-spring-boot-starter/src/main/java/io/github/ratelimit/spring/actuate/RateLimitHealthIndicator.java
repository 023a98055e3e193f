package io.github.ratelimit.spring.actuate;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

/**
 * Reports whether limits are enforced. The check is one read of the store and takes no
 * longer than a decision. If the store answers, an outage in which it did not answer
 * ends. If it failed with an error before, the check counts a request of a separate
 * policy, because an application that is down may have no other requests. If the store
 * allows this request, the outage ends once no request has failed for ten seconds.
 * <p>
 * While the store fails, the status is {@code UNKNOWN}, which leaves the application
 * {@code UP}: taking all instances out of service would be worse than having no limits.
 * <p>
 * Safe for use by several threads.
 */
final class RateLimitHealthIndicator implements HealthIndicator {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitHealthIndicator.class);

	/** Uses a policy that every store supports. */
	private static final RateLimitRequest QUESTION = RateLimitRequest
		.of(Policy.of("ratelimit-health", new FixedWindow(), Limit.parse("1/s")), Identifier.GLOBAL);

	private final RateLimiter store;

	private final OutageRateLimiter outage;

	private final KnownPolicies policies;

	private final Status whenFailing;

	RateLimitHealthIndicator(RateLimiter store, OutageRateLimiter outage, KnownPolicies policies,
			boolean downWhenFailing) {
		this.store = store;
		this.outage = outage;
		this.policies = policies;
		this.whenFailing = downWhenFailing ? Status.DOWN : Status.UNKNOWN;
	}

	@Override
	public Health health() {
		Health.Builder health = Health.up().withDetail("store", "reachable");
		boolean reachable = true;
		try {
			this.store.peek(QUESTION);
			this.outage.storeAnswers();
			tryToCount();
		}
		catch (StoreException ex) {
			reachable = false;
			health.withDetail("store", "unreachable").withDetail("cause", ex.reason());
		}
		Optional<Instant> failingSince = this.outage.failingSince();
		if (reachable && failingSince.isEmpty()) {
			return health.withDetail("limits", "enforced").build();
		}
		health.status(this.whenFailing).withDetail("limits", "the on-store-failure of each policy applies");
		failingSince.ifPresent((since) -> health.withDetail("since", since));
		if (reachable) {
			this.outage.lastFailure().ifPresent((failure) -> health.withDetail("cause", failure.reason()));
		}
		ConfiguredPolicies now = new ConfiguredPolicies(this.policies.all(), List.of());
		return health.withDetail("breaker", this.outage.isUnanswered() ? "open" : "closed")
			.withDetail("allowed", now.names(OnStoreFailure.ALLOW))
			.withDetail("denied", now.names(OnStoreFailure.DENY))
			.withDetail("limited-locally", now.names(OnStoreFailure.LOCAL))
			.build();
	}

	private void tryToCount() {
		if (this.outage.failingSince().isEmpty()) {
			return;
		}
		try {
			if (this.store.tryAcquire(QUESTION).allowed()) {
				this.outage.noteAllowed(QUESTION);
			}
		}
		catch (StoreException ex) {
			logger.debug("The store still fails to count requests", ex);
		}
	}

}
