package io.github.ratelimit.spring.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.waiting.WaitingRateLimiter;
import io.github.ratelimit.waiting.WaitingRateLimiter.Time;
import io.github.ratelimit.spring.OutgoingCallDeniedException;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.GivenIdentifiers;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.decide.WaitListener;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;

import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Counts the calls of clients by the configured policies, and waits as long as their
 * answers say.
 *
 * @param policies the policies by name
 * @param decider knows the current form of a policy, and is told of waits
 * @param limiter decides
 * @param enforcer supplies what knows how identifiers are counted
 * @param waits remembers who has to wait
 * @param time how time passes for those who wait
 */
record PolicyOutgoingLimits(ConfiguredPolicies policies, Decider decider, PolicyLimiter limiter,
		Supplier<PolicyEnforcer> enforcer, RequestedWaits waits, Time time) implements OutgoingRateLimits {

	/** GitHub asks to wait with 403 as well. */
	private static final List<Integer> MAY_ASK_TO_WAIT = List.of(HttpStatus.TOO_MANY_REQUESTS.value(),
			HttpStatus.SERVICE_UNAVAILABLE.value(), HttpStatus.FORBIDDEN.value());

	@Override
	public ClientHttpRequestInterceptor interceptor(String policy, Duration maxWait) {
		GivenIdentifiers.of(GivenIdentifiers.policy(policy, this.policies), List.of(Identifier.GLOBAL));
		return interceptor(policy, (request) -> Identifier.GLOBAL, maxWait);
	}

	@Override
	public ClientHttpRequestInterceptor interceptor(String policy, Function<HttpRequest, Identifier> identifier,
			Duration maxWait) {
		IdentifiedPolicy configured = GivenIdentifiers.policy(policy, this.policies);
		if (maxWait.isNegative()) {
			throw new IllegalArgumentException("Invalid longest wait (%s): must not be negative.".formatted(maxWait));
		}
		if (!maxWait.isZero()) {
			WaitingRateLimiter.requireUnpunished(configured.policy());
		}
		return (request, body, execution) -> {
			Identifier caller = this.enforcer.get().counted(identifier.apply(request));
			boolean denies = this.decider.current(configured).enforcement().denies();
			PolicyLimiter.Acquisition call = acquire(policy, caller, maxWait, denies);
			try {
				ClientHttpResponse response = execution.execute(request, body);
				int status = response.getStatusCode().value();
				if (denies && MAY_ASK_TO_WAIT.contains(status)) {
					RequestedWait.of(response.getHeaders(), Instant.now())
						.ifPresent((time) -> this.waits.add(policy, caller, time,
								"another service has answered with %s and a time to wait".formatted(status)));
				}
				return response;
			}
			finally {
				call.end();
			}
		};
	}

	private Duration left(Duration maxWait, long start) {
		return maxWait.isZero() ? maxWait : maxWait.minusNanos(this.time.nanoTime() - start);
	}

	/** Waits first where others wait, in their order, and then as only this was told. */
	private PolicyLimiter.Acquisition acquire(String policy, Identifier caller, Duration maxWait, boolean denies)
			throws IOException {
		long start = this.time.nanoTime();
		try {
			while (true) {
				Duration left = left(maxWait, start);
				Duration told = denies ? this.waits.remaining(policy, caller) : null;
				if (told != null && told.compareTo(left) > 0) {
					if (!maxWait.isZero()) {
						this.decider.waited(policy, WaitListener.End.DENIED, Duration.ZERO);
					}
					throw new OutgoingCallDeniedException(policy,
							new Decision(false, List.of(), told, Decision.Source.LOCAL));
				}
				PolicyLimiter.Acquisition call = this.limiter.acquire(left, PolicyLimiter.Use.of(policy, caller));
				if (!call.allowed()) {
					throw new OutgoingCallDeniedException(policy, call.decision());
				}
				told = denies ? this.waits.remaining(policy, caller) : null;
				if (told == null) {
					return call;
				}
				call.refund();
				if (told.compareTo(left(maxWait, start)) <= 0) {
					this.time.pass(told.toNanos(), new Semaphore(0));
					this.decider.waited(policy, WaitListener.End.ALLOWED, told);
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw (IOException) new InterruptedIOException("Interrupted while the call waited for its policy")
				.initCause(ex);
		}
	}

}
