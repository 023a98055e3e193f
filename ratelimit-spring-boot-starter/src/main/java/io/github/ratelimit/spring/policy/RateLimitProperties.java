package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.Mode;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.ConfigurationPropertiesSource;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

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
 * @param identifiers custom identifiers by name: each is an expression over #request and
 * #principal, such as #principal.claims['tenant']
 * @param ip how the address of a client is determined
 * @param allow clients that are never limited, such as ip:203.0.113.0/24, user:admin or
 * header:X-Api-Key:secret
 * @param deny clients whose requests are always denied, such as ip:203.0.113.0/24,
 * user:admin or header:X-Api-Key:secret
 * @param health the health contributor
 * @param instances number of instances that share the quotas of policies with
 * on-store-failure: local while the store fails; if it changes, declare an InstanceCount
 * bean instead
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
		@DefaultValue Map<String, PolicyProperties> policies,
		@NestedConfigurationProperty @DefaultValue RedisProperties redis, @DefaultValue Headers headers,
		@DefaultValue RejectionProperties rejection, @DefaultValue Map<String, String> identifiers, @DefaultValue Ip ip,
		@DefaultValue List<String> allow, @DefaultValue List<String> deny, @DefaultValue Health health,
		@DefaultValue("1") int instances, @DefaultValue DenialCacheProperties denialCache,
		@DefaultValue MostDeniedProperties mostDenied, @DefaultValue MethodProperties method,
		@DefaultValue FilterProperties filter) {

	/**
	 * Defaults for all policies, including those declared in annotations. Changes need a
	 * restart.
	 *
	 * @param identifiers identifiers of requests, each with its own count: ip, user,
	 * header:NAME, cookie:NAME, path, method, global, a custom identifier, or several of
	 * them joined by plus signs
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
	 * A set of limits that are enforced together. Unset properties default to
	 * ratelimit.defaults.
	 *
	 * @param limits limits, such as 10/s, 100/15m or 10/500ms, all enforced together
	 * @param concurrent maximum number of requests of an identifier that run at the same
	 * time, from 1 to 1000, beside limits or instead of them
	 * @param concurrentLease how long a request still counts as running after its
	 * instance has died, from 1s to 1d; requests that run longer are renewed; default: 1m
	 * @param algorithm algorithm that counts requests: one of the library, or the name of
	 * a custom Algorithm bean or class; default: ratelimit.defaults.algorithm
	 * @param identifiers identifiers of requests, each with its own count, or code:NAME
	 * for one that only code gives; default: ratelimit.defaults.identifiers
	 * @param missingIdentifier what happens to requests that lack an identifier: skip
	 * does not count them by it, deny denies them; an identifier such as ip counts
	 * requests that lack all others; default: ratelimit.defaults.missing-identifier
	 * @param paths path patterns to limit, such as /api/** or GET /user/**
	 * @param exclude path patterns to exclude from these paths, such as /api/health or
	 * GET /api/logo.png
	 * @param when condition on the request: the policy applies only if it is true, such
	 * as #request.getHeader('X-Channel') == 'web'
	 * @param unless condition on the request: the policy does not apply if it is true,
	 * such as #request.getHeader('X-Probe') == 'yes'
	 * @param cost cost of a request on one of the paths
	 * @param routes path patterns with their own cost; the first that matches is used
	 * @param unit unit of the quotas, such as bytes or tokens; default: requests
	 * @param countDenied whether denied requests count as well; default:
	 * ratelimit.defaults.count-denied
	 * @param mode whether requests beyond the limits are denied, or only reported;
	 * default: ratelimit.defaults.mode
	 * @param onStoreFailure what happens to requests while the store fails: local limits
	 * them in each instance separately, allow does not limit them, deny denies them;
	 * default: ratelimit.defaults.on-store-failure
	 * @param countWhen which responses count, such as status in [401, 403]; the cost of
	 * other responses is refunded when they are complete
	 * @param plans limits for the users of a plan, by the name of the plan
	 * @param penalty blocks of identifiers that are denied too often
	 * @param retain number of windows to keep for reading, including the current one; an
	 * option of fixed-window
	 * @param zone time zone in which windows of whole days begin at midnight; an option
	 * of fixed-window
	 * @param precision length of a sub-window; an option of sliding-window
	 * @param previousWeight weight of the previous window, from 0 to 1; an option of
	 * sliding-window-counter
	 * @param rounding rounding of the estimate; an option of sliding-window-counter
	 * @param burst maximum number of tokens; an option of token-bucket
	 * @param lease time for which each instance takes a part of the quota in advance, to
	 * decide busy identifiers in memory, from 100ms to 1m; needs fixed-window or
	 * first-request-window, and scripting. Default: every request is decided in the store
	 */
	@ConfigurationPropertiesSource
	public record PolicyProperties(@DefaultValue List<String> limits, @Nullable Long concurrent,
			@Nullable Duration concurrentLease, @Nullable String algorithm, @DefaultValue List<String> identifiers,
			@Nullable String missingIdentifier, @DefaultValue List<String> paths, @DefaultValue List<String> exclude,
			@Nullable String when, @Nullable String unless, @DefaultValue("1") long cost,
			@DefaultValue List<RouteProperties> routes, @Nullable String unit, @Nullable Boolean countDenied,
			@Nullable Mode mode, @Nullable OnStoreFailure onStoreFailure, @Nullable String countWhen,
			@DefaultValue Map<String, PlanProperties> plans, @Nullable PenaltyProperties penalty,
			@Nullable Integer retain, @Nullable ZoneId zone, @Nullable Duration precision,
			@Nullable Double previousWeight, @Nullable Rounding rounding, @Nullable Long burst,
			@Nullable Duration lease) {

	}

	/**
	 * Path patterns with their own cost.
	 *
	 * @param paths path patterns, such as /api/** or GET /user/**
	 * @param cost cost of a request
	 */
	@ConfigurationPropertiesSource
	public record RouteProperties(@DefaultValue List<String> paths, @DefaultValue("1") long cost) {

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
	 * Limits for the users of a plan.
	 *
	 * @param limits limits that replace those of the policy
	 * @param unlimited whether the users of the plan are not limited by the policy
	 */
	@ConfigurationPropertiesSource
	public record PlanProperties(@DefaultValue List<String> limits, @DefaultValue("false") boolean unlimited) {

	}

	/**
	 * Blocks of identifiers that are denied too often.
	 *
	 * @param after number of denials that lead to a block, from 1 to 1000000
	 * @param within time in which the denials are counted
	 * @param block how long the first block lasts; each further one lasts twice as long
	 * as the one before
	 * @param upTo how long a block may last, and how long after its end the next one is
	 * longer; default: as long as block, so that all blocks last equally long
	 * @param mode whether identifiers are blocked, or penalties only reported
	 */
	@ConfigurationPropertiesSource
	public record PenaltyProperties(@Nullable Integer after, @Nullable Duration within, @Nullable Duration block,
			@Nullable Duration upTo, @DefaultValue("enforce") Mode mode) {

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
