package io.github.ratelimit.spring.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.policy.Mode;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.StringUtils;

/**
 * Properties below {@code ratelimit}. An unknown property fails the startup, because a
 * misspelt one would leave requests unlimited.
 *
 * @param enabled whether requests are limited
 * @param keyPrefix prefix of all Redis keys: letters, digits, dots, underscores, colons
 * and hyphens; default: spring.application.name, or ratelimit if that is not set.
 * Applications with the same prefix share the counts of policies with the same name
 * @param identifierSecret secret for hashing the values of identifiers, so that neither
 * Redis nor the most denied identifiers of the actuator endpoint show addresses, names or
 * API keys; must be the same for all instances
 * @param defaults defaults for all policies
 * @param exclude path patterns that policies with paths do not limit, such as
 * /actuator/** or GET /logo.png; annotations on methods are not affected
 * @param plan expression for the plan of a user, such as #principal?.claims['plan'];
 * alternatively, declare a PlanResolver bean
 * @param planCacheTtl how long the plan of a user is cached, up to 1d; 0 to cache it for
 * one request only
 * @param policies policies by name
 * @param redis the Redis server of the limiter; without a host or URL, that of
 * spring.data.redis
 * @param headers rate limit headers of responses
 * @param rejection answers to denied requests
 * @param identifiers custom identifiers by name: each is an expression over #request,
 * #query and #principal, such as #principal.claims['tenant']
 * @param ip how the address of a client is determined
 * @param allow clients that are never limited, such as ip:203.0.113.0/24, user:admin or
 * header:X-Api-Key:secret
 * @param deny clients whose requests are always denied, such as ip:203.0.113.0/24,
 * user:admin or header:X-Api-Key:secret
 * @param health the health contributor
 * @param instances number of instances that share the quotas of policies with
 * on-store-failure: local while the store fails; if it changes, declare an InstanceCount
 * bean instead
 * @param longestCall how long a request of a policy with concurrent is renewed without a
 * sign that it still runs, from 1s to 1d
 * @param denialCache cache of denials
 * @param mostDenied counts of denied requests by identifier
 * @param method methods with RateLimited
 * @param filter order of the filters that limit paths
 * @since 0.1
 */
@ConfigurationProperties(prefix = "ratelimit", ignoreUnknownFields = false)
public record RateLimitProperties(@DefaultValue("true") boolean enabled, @Nullable String keyPrefix,
		@Nullable String identifierSecret, @DefaultValue DefaultProperties defaults, @DefaultValue List<String> exclude,
		@Nullable String plan, @DefaultValue("1m") Duration planCacheTtl,
		@DefaultValue Map<String, PolicySettings> policies,
		@NestedConfigurationProperty @DefaultValue RedisProperties redis, @DefaultValue Headers headers,
		@DefaultValue RejectionProperties rejection, @DefaultValue Map<String, String> identifiers, @DefaultValue Ip ip,
		@DefaultValue List<String> allow, @DefaultValue List<String> deny, @DefaultValue Health health,
		@DefaultValue("1") int instances, @DefaultValue("10m") Duration longestCall,
		@DefaultValue DenialCacheProperties denialCache, @DefaultValue MostDeniedProperties mostDenied,
		@DefaultValue MethodProperties method, @DefaultValue FilterProperties filter) {

	/**
	 * Returns how identifiers may be shown: with the hash of their value, as in Redis, if
	 * there is a secret.
	 */
	public UnaryOperator<Identifier> shown() {
		String secret = this.identifierSecret;
		return StringUtils.hasLength(secret) ? (identifier) -> RedisRateLimiter.hashed(identifier, secret)
				: UnaryOperator.identity();
	}

	/**
	 * Defaults for all policies, including those declared in annotations. Changes need a
	 * restart.
	 *
	 * @param identifiers identifiers of requests, each with its own count: ip, user,
	 * header:NAME, cookie:NAME, query:NAME, path, method, global, a custom identifier, or
	 * several of them joined by plus signs
	 * @param algorithm algorithm that counts requests: one of the library, or the name of
	 * a custom Algorithm bean or class
	 * @param missingIdentifier what happens to requests that lack an identifier: skip
	 * does not count them by it, deny denies them; an identifier such as ip counts
	 * requests that lack all others
	 * @param countDenied whether denied requests count as well
	 * @param mode whether requests beyond the limits are denied, or only reported
	 * @param onStoreFailure what happens to requests while the store fails: local limits
	 * them in each instance separately, allow does not limit them, deny denies them
	 */
	public record DefaultProperties(@DefaultValue("ip") List<String> identifiers,
			@DefaultValue("sliding-window") String algorithm, @DefaultValue("ip") String missingIdentifier,
			@DefaultValue("false") boolean countDenied, @DefaultValue("enforce") Mode mode,
			@DefaultValue("local") OnStoreFailure onStoreFailure) {

	}

	/**
	 * Addresses of clients.
	 *
	 * @param ipv6Prefix prefix length of IPv6 networks: addresses of one network share a
	 * count
	 * @param trustedProxies addresses and networks of proxies, such as 10.0.0.0/8, whose
	 * forwarded header is trusted
	 * @param forwardedHeader header that these proxies set; default: x-forwarded-for
	 */
	public record Ip(@DefaultValue("64") int ipv6Prefix, @DefaultValue List<String> trustedProxies,
			@Nullable ForwardedHeader forwardedHeader) {

	}

	/**
	 * Headers of limited responses.
	 *
	 * @param styles header styles to write: draft, x-rate-limit, x-ratelimit, or none
	 */
	public record Headers(@DefaultValue( {
			"draft", "x-rate-limit" }) List<String> styles){

	}

	/**
	 * Answers to requests beyond their limits.
	 *
	 * @param status status of the response, from 400 to 599
	 * @param type problem type in the body, a URI; default: quota-exceeded of
	 * draft-ietf-httpapi-ratelimit-headers. Blocks have their own type
	 */
	public record RejectionProperties(@DefaultValue("429") int status, @Nullable String type) {

	}

	/**
	 * Health.
	 *
	 * @param downWhenFailing whether the application is DOWN while the store fails
	 */
	public record Health(@DefaultValue("false") boolean downWhenFailing) {

	}

	/**
	 * Cache of denials.
	 *
	 * @param enabled whether a denied request is denied again from memory until it could
	 * be allowed; needs scripting
	 * @param maxAge maximum age of a cached denial; refunds, resets and ended blocks of
	 * other instances are noticed after this time
	 * @param maxSize maximum number of cached denials, one for each policy, identifier
	 * and cost
	 */
	public record DenialCacheProperties(@DefaultValue("true") boolean enabled, @DefaultValue("1s") Duration maxAge,
			@DefaultValue("10000") long maxSize) {

	}

	/**
	 * Counts of denied requests by identifier.
	 *
	 * @param enabled whether denied requests of the last five minutes are counted by
	 * identifier in memory, if the actuator endpoint ratelimits can show them
	 */
	public record MostDeniedProperties(@DefaultValue("true") boolean enabled) {

	}

	/**
	 * Methods with RateLimited.
	 *
	 * @param order order of the limit among the advice of a method: advice with a lower
	 * order is applied first. The default is before method security (100 to 600),
	 * transactions and caching; 250 is after PreAuthorize, so that unauthorized calls do
	 * not count. Async, Retryable and ConcurrencyLimit are always applied after the limit
	 */
	public record MethodProperties(@DefaultValue("0") int order) {

	}

	/**
	 * Order of the filters that limit paths, among all filters of the application.
	 *
	 * @param beforeLoginOrder order of the filter for identifiers that are known before
	 * the login; default: spring.security.filter.order - 10
	 * @param afterLoginOrder order of the filter for the user and identifiers that depend
	 * on it; default: spring.security.filter.order + 10
	 */
	public record FilterProperties(@Nullable Integer beforeLoginOrder, @Nullable Integer afterLoginOrder) {

	}

}
