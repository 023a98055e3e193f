package io.github.ratelimit.spring.client;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.RateLimitExceededException;

import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Counts the calls of a client by a policy, and waits as long as their answers say.
 *
 * @param policy the name of the policy
 * @param identifier returns the identifier of a call
 * @param denies whether the policy denies calls at present, because it is not in shadow
 * mode
 */
record OutgoingInterceptor(String policy, Function<HttpRequest, Identifier> identifier, BooleanSupplier denies,
		PolicyLimiter limiter, RequestedWaits waits, InstantSource clock) implements ClientHttpRequestInterceptor {

	private static final List<Integer> OVERLOADED = List.of(HttpStatus.TOO_MANY_REQUESTS.value(),
			HttpStatus.SERVICE_UNAVAILABLE.value());

	@Override
	public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		Identifier caller = this.identifier.apply(request);
		Duration wait = this.waits.remaining(this.policy, caller);
		if (wait != null && this.denies.getAsBoolean()) {
			throw new RateLimitExceededException(new Decision(false, List.of(), wait, Decision.Source.LOCAL));
		}
		PolicyLimiter.Acquisition call = this.limiter.tryAcquire(this.policy, caller);
		if (!call.allowed()) {
			throw new RateLimitExceededException(call.decision());
		}
		try {
			return execute(caller, request, body, execution);
		}
		finally {
			call.end();
		}
	}

	private ClientHttpResponse execute(Identifier caller, HttpRequest request, byte[] body,
			ClientHttpRequestExecution execution) throws IOException {
		ClientHttpResponse response = execution.execute(request, body);
		int status = response.getStatusCode().value();
		if (OVERLOADED.contains(status)) {
			RequestedWait.of(response.getHeaders(), this.clock.instant())
				.ifPresent((time) -> this.waits.add(this.policy, caller, time,
						"another service has answered with %d and a time to wait".formatted(status)));
		}
		return response;
	}

}
