package io.github.ratelimit.spring;

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
 * A call that is denied throws {@link RateLimitExceededException}, and nothing is sent.
 * No call waits. A call that was sent stays counted, whatever becomes of it. If the store
 * failed and the policy denies requests then, a call throws
 * {@link io.github.ratelimit.StoreException}.
 * <p>
 * If the other service answers with 429 or 503 and says how long to wait, the identifier
 * is blocked in the policy for this time, in all instances: all its calls are denied
 * until then. This is the time of {@code Retry-After}, in seconds or as a date, or else
 * the longest {@code t} of the limits in {@code RateLimit} with {@code r=0}. At most an
 * hour counts, so that a wrong header stops no calls for longer. Other values are
 * ignored. A longer block stays as it is. If the store cannot keep blocks or fails, only
 * this instance denies the calls.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface OutgoingRateLimits {

	/**
	 * Returns an interceptor that counts all calls together.
	 * @param policy the name of a policy with the identifier {@code global} only
	 * @return a new interceptor
	 * @throws IllegalArgumentException if there is no such policy, or it has other
	 * identifiers
	 */
	ClientHttpRequestInterceptor interceptor(String policy);

	/**
	 * Returns an interceptor that counts each call by an identifier, such as the host or
	 * a tenant.
	 * @param policy the name of a policy with one identifier, such as {@code code:host}
	 * @param identifier returns the identifier of a call, such as
	 * {@code new Identifier("code:host", request.getURI().getAuthority().toLowerCase(Locale.ROOT))}.
	 * A call throws {@code IllegalArgumentException} if the policy does not count by it
	 * @return a new interceptor
	 * @throws IllegalArgumentException if there is no such policy
	 */
	ClientHttpRequestInterceptor interceptor(String policy, Function<HttpRequest, Identifier> identifier);

}
