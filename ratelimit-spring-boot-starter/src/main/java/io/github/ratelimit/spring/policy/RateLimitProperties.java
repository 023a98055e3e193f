package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.ForwardedHeader;
import io.github.ratelimit.spring.Mode;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.ConfigurationPropertiesSource;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties below {@code ratelimit}. One that does not exist stops the start: it is a
 * limit misspelt.
 *
 * @param enabled whether requests are limited at all
 * @param keyPrefix what the names of all Redis keys start with: letters, digits, dots,
 * underscores, colons and hyphens; spring.application.name if not set, or else ratelimit.
 * Applications with the same one share the counts of policies of the same name
 * @param identifierSecret secret that the values of identifiers are hashed with, so that
 * no addresses, names or API keys are in Redis, nor among those that the actuator
 * endpoint shows as denied most; the same for all instances
 * @param defaults what counts for every policy that does not say otherwise
 * @param exclude path patterns that no policy of paths limits, such as /actuator/** or
 * GET /logo.png; the annotation on a method that serves one of them counts all the same
 * @param plan expression that says which plan a user is on, such as
 * #principal?.claims['plan']; a PlanResolver bean does the same
 * @param planCacheTtl how long the plan of a user is kept, up to 1d; 0 for no longer than
 * a request
 * @param policies policies by name
 * @param redis the server that counts are kept on; without a host or URL that of
 * spring.data.redis
 * @param headers which headers tell clients how their limits stand
 * @param rejection how requests beyond their limits are answered
 * @param identifiers identifiers of the application's own by name: expressions over
 * #request and #principal, such as #principal.claims['tenant']
 * @param ip how addresses of clients are found
 * @param allow clients that are never limited, such as ip:203.0.113.0/24, user:admin or
 * header:X-Api-Key:secret
 * @param deny clients whose requests are all denied, such as ip:203.0.113.0/24,
 * user:admin or header:X-Api-Key:secret
 * @param health what the health contributor says
 * @param instances how many instances of the application share the quotas while the store
 * fails, for policies with on-store-failure: local; an InstanceCount bean does the same
 * @param denialCache memory of who was denied
 * @param mostDenied who was denied most
 * @param method methods with RateLimited
 * @param filter the order of the filters that limit paths
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
	 * What counts for every policy that does not say otherwise, also for those that are
	 * written in annotations. Changed values need a restart.
	 *
	 * @param identifiers by what requests are identified, each with a count of its own:
	 * ip, user, header:NAME, cookie:NAME, path, method, global, one of the application's
	 * own, or several of them joined by plus signs
	 * @param algorithm how requests are counted: by an algorithm of the library, or by
	 * one of the application's own, named by its bean or its class
	 * @param missingIdentifier what becomes of requests that lack an identifier: skip
	 * does not count them by it, deny denies them; another identifier counts those that
	 * have none
	 * @param countDenied whether denied requests count as well
	 * @param mode whether requests beyond the limits are denied, or only reported
	 * @param onStoreFailure what happens to requests while the store fails: they are
	 * limited by each instance alone, allowed without limits, or denied
	 */
	public record DefaultProperties(@DefaultValue("ip") List<String> identifiers,
			@DefaultValue("sliding-window") String algorithm, @DefaultValue("ip") String missingIdentifier,
			@DefaultValue("false") boolean countDenied, @DefaultValue("enforce") Mode mode,
			@DefaultValue("local") OnStoreFailure onStoreFailure) {

	}

	/**
	 * A set of limits that are enforced together. What it does not set is as
	 * ratelimit.defaults says.
	 *
	 * @param limits limits, all of which hold at once, such as 10/s, 100/15m or 10/500ms
	 * @param algorithm how requests are counted: by an algorithm of the library, or by
	 * one of the application's own, named by its bean or its class;
	 * ratelimit.defaults.algorithm if not set
	 * @param identifiers by what requests are identified, each with a count of its own;
	 * ratelimit.defaults.identifiers if not set
	 * @param missingIdentifier what becomes of requests that lack an identifier: skip
	 * does not count them by it, deny denies them; another identifier counts those that
	 * have none; ratelimit.defaults.missing-identifier if not set
	 * @param paths path patterns to limit, such as /api/** or GET /user/**
	 * @param exclude path patterns among them that are not limited, such as /api/health
	 * or GET /api/logo.png
	 * @param when condition on the request, without which the policy does not apply, such
	 * as #request.getHeader('X-Channel') == 'web'
	 * @param unless condition on the request, with which the policy does not apply, such
	 * as #request.getHeader('X-Probe') == 'yes'
	 * @param cost what a request on one of the paths uses of each quota
	 * @param routes path patterns with costs of their own; the first that matches counts
	 * @param unit what the quotas count, such as bytes or tokens; requests if not set
	 * @param countDenied whether denied requests count as well;
	 * ratelimit.defaults.count-denied if not set
	 * @param mode whether requests beyond the limits are denied, or only reported;
	 * ratelimit.defaults.mode if not set
	 * @param onStoreFailure what happens to requests while the store fails: they are
	 * limited by each instance alone, allowed without limits, or denied;
	 * ratelimit.defaults.on-store-failure if not set
	 * @param countWhen which responses count, such as status in [401, 403]; what others
	 * have used is given back when they are complete
	 * @param plans what the policy is for the users of a plan, by its name
	 * @param retain how many windows are kept to be read back; an option of fixed-window
	 * @param zone time zone at whose midnight windows of whole days begin; an option of
	 * fixed-window
	 * @param precision length of a sub-window; an option of sliding-window
	 * @param previousWeight weight of the window before, from 0 to 1; an option of
	 * sliding-window-counter
	 * @param rounding how the estimate is rounded; an option of sliding-window-counter
	 * @param burst how many tokens are kept at most; an option of token-bucket
	 */
	@ConfigurationPropertiesSource
	public record PolicyProperties(@DefaultValue List<String> limits, @Nullable String algorithm,
			@DefaultValue List<String> identifiers, @Nullable String missingIdentifier,
			@DefaultValue List<String> paths, @DefaultValue List<String> exclude, @Nullable String when,
			@Nullable String unless, @DefaultValue("1") long cost, @DefaultValue List<RouteProperties> routes,
			@Nullable String unit, @Nullable Boolean countDenied, @Nullable Mode mode,
			@Nullable OnStoreFailure onStoreFailure, @Nullable String countWhen,
			@DefaultValue Map<String, PlanProperties> plans, @Nullable Integer retain, @Nullable ZoneId zone,
			@Nullable Duration precision, @Nullable Double previousWeight, @Nullable Rounding rounding,
			@Nullable Long burst) {

	}

	/**
	 * Path patterns with a cost of their own.
	 *
	 * @param paths path patterns, such as /api/** or GET /user/**
	 * @param cost what a request uses of each quota
	 */
	@ConfigurationPropertiesSource
	public record RouteProperties(@DefaultValue List<String> paths, @DefaultValue("1") long cost) {

	}

	/**
	 * Addresses of clients.
	 *
	 * @param ipv6Prefix length in bits of the network that identifies an IPv6 address
	 * @param trustedProxies addresses and blocks of proxies, such as 10.0.0.0/8, whose
	 * forwarded header names the client
	 * @param forwardedHeader the header that these proxies write; X-Forwarded-For if not
	 * set
	 */
	public record Ip(@DefaultValue("64") int ipv6Prefix, @DefaultValue List<String> trustedProxies,
			@Nullable ForwardedHeader forwardedHeader) {

	}

	/**
	 * What a policy is for the users of a plan.
	 *
	 * @param limits limits that hold instead of those of the policy
	 * @param unlimited whether the policy does not count
	 */
	@ConfigurationPropertiesSource
	public record PlanProperties(@DefaultValue List<String> limits, @DefaultValue("false") boolean unlimited) {

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
	 * @param type type of the problem in the body, a URI; quota-exceeded of
	 * draft-ietf-httpapi-ratelimit-headers if not set. Blocks have a type of their own
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
	 * Memory of who was denied.
	 *
	 * @param enabled whether clients that were denied are denied from memory as long as
	 * they could not be allowed; only where scripts may be used
	 * @param maxAge for how long at most: the time after which refunds, resets and ended
	 * blocks of other instances are noticed
	 * @param maxSize how many policies, identifiers and costs are remembered at most
	 */
	public record DenialCacheProperties(@DefaultValue("true") boolean enabled, @DefaultValue("1s") Duration maxAge,
			@DefaultValue("10000") long maxSize) {

	}

	/**
	 * Who was denied most.
	 *
	 * @param enabled whether denied requests are counted by identifier, in memory and for
	 * the last five minutes, where the actuator endpoint ratelimits can show them
	 */
	public record MostDeniedProperties(@DefaultValue("true") boolean enabled) {

	}

	/**
	 * Methods with RateLimited.
	 *
	 * @param order where the limit of a method stands among other advice of the method:
	 * what has a lower order comes before it. The default is before method security (100
	 * to 600), transactions and caches; 250 is after PreAuthorize, so that calls that are
	 * not authorized do not count. Async, Retryable and ConcurrencyLimit come after the
	 * limit whatever the order is
	 */
	public record MethodProperties(@DefaultValue("0") int order) {

	}

	/**
	 * The order of the filters that limit paths, among all filters of the application.
	 *
	 * @param beforeLoginOrder order of the filter that decides by what is known before
	 * the login; spring.security.filter.order - 10 if not set
	 * @param afterLoginOrder order of the filter that decides by the user, and by what
	 * depends on it; spring.security.filter.order + 10 if not set
	 */
	public record FilterProperties(@Nullable Integer beforeLoginOrder, @Nullable Integer afterLoginOrder) {

	}

}
