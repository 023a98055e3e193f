package io.github.ratelimit.spring;

import java.time.Duration;
import java.util.function.Function;

import io.github.ratelimit.Identifier;

import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestInterceptor;

/**
 * Limits calls to other services by the policies of the application, for
 * {@code RestClient}, {@code RestTemplate} and {@code @HttpExchange} interfaces. Inject
 * it:
 *
 * <pre>{@code
 * &#64;Bean
 * RestClient github(RestClient.Builder builder, OutgoingRateLimits limits) {
 *     return builder.baseUrl("https://api.github.com").requestInterceptor(limits.interceptor("github")).build();
 * }
 * }</pre>
 * <p>
 * A call that is denied throws {@link OutgoingCallDeniedException} at once, and nothing
 * is sent. With a longest wait, calls wait until the policy allows them, in the order of
 * {@link io.github.ratelimit.waiting.WaitingRateLimiter} and before they take a
 * connection, but not if that takes longer. A thread that is interrupted then throws
 * {@link java.io.InterruptedIOException}. A call that was sent stays counted. If the
 * store failed and the policy denies requests then, a call throws
 * {@link io.github.ratelimit.StoreException}.
 * <p>
 * If the other service answers with 429, 503 or 403 and says how long to wait, all calls
 * of the identifier are denied until then, or wait, in all instances. This is the time of
 * {@code Retry-After}, in seconds or as a date, or else the longest of
 * {@code X-RateLimit-Reset} with {@code X-RateLimit-Remaining: 0}, and {@code t} of the
 * limits in {@code RateLimit} with {@code r=0}. Numbers of a billion and more are seconds
 * or milliseconds since the epoch. At most an hour counts, and other values are ignored.
 * Other instances do not know of the wait if the store cannot keep it, or fails.
 * <p>
 * Methods throw {@code IllegalArgumentException} if there is no such policy, or it has
 * other identifiers; or if the longest wait is negative, or it is not zero, and the
 * policy counts denied requests or has a penalty.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface OutgoingRateLimits {

	/**
	 * Returns an interceptor that counts all calls together, and denies them at once.
	 * @param policy the name of a policy with the identifier {@code global} only
	 * @return a new interceptor
	 */
	default ClientHttpRequestInterceptor interceptor(String policy) {
		return interceptor(policy, Duration.ZERO);
	}

	/**
	 * Returns an interceptor that counts all calls together.
	 * @param policy the name of a policy with the identifier {@code global} only
	 * @param maxWait how long a call may wait, zero or more
	 * @return a new interceptor
	 */
	ClientHttpRequestInterceptor interceptor(String policy, Duration maxWait);

	/**
	 * Returns an interceptor that counts each call by an identifier, and denies it at
	 * once.
	 * @param policy the name of a policy with one identifier, such as {@code code:host}
	 * @param identifier returns the identifier of a call
	 * @return a new interceptor
	 */
	default ClientHttpRequestInterceptor interceptor(String policy, Function<HttpRequest, Identifier> identifier) {
		return interceptor(policy, identifier, Duration.ZERO);
	}

	/**
	 * Returns an interceptor that counts each call by an identifier, such as the host or
	 * a tenant.
	 * @param policy the name of a policy with one identifier, such as {@code code:host}
	 * @param identifier returns the identifier of a call, such as
	 * {@code new Identifier("code:host", request.getURI().getAuthority().toLowerCase(Locale.ROOT))}.
	 * A call throws {@code IllegalArgumentException} if the policy does not count by it
	 * @param maxWait how long a call may wait, zero or more
	 * @return a new interceptor
	 */
	ClientHttpRequestInterceptor interceptor(String policy, Function<HttpRequest, Identifier> identifier,
			Duration maxWait);

}
