package io.github.ratelimit.spring;

import java.time.Duration;
import java.util.function.Predicate;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.outage.OnStoreFailure;
import jakarta.servlet.http.HttpServletRequest;

/**
 * A policy that is declared in code. Each method sets the property of the same name below
 * {@code ratelimit.policies.NAME}, which is described there and has the same default. A
 * second call replaces the first one, except that routes and plans are added.
 * <p>
 * Texts may contain placeholders, such as <code>${SEARCH_LIMIT:10/s}</code>. Values are
 * checked when the application starts, like those of a file.
 * <p>
 * Used by one thread.
 *
 * @since 0.1
 */
public interface PolicyRegistration {

	/**
	 * Sets the limits, which are all enforced together.
	 * @param limits at least one limit, such as {@code 10/s} or {@code 100/15m}
	 * @return this policy
	 */
	PolicyRegistration limits(String... limits);

	/**
	 * Sets the limits, which are all enforced together.
	 * @param limits at least one limit
	 * @return this policy
	 */
	PolicyRegistration limits(Limit... limits);

	/**
	 * Sets how many requests of an identifier may run at the same time, over all
	 * instances. The policy then needs no limits.
	 * @param most the largest number of requests
	 * @return this policy
	 */
	PolicyRegistration concurrent(long most);

	/**
	 * Sets after what time a request no longer runs if its instance has died.
	 * @param lease the time
	 * @return this policy
	 */
	PolicyRegistration concurrentLease(Duration lease);

	/**
	 * Sets the time for which each instance takes a part of the quota in advance.
	 * @param lease the time
	 * @return this policy
	 */
	PolicyRegistration lease(Duration lease);

	/**
	 * Sets how identifiers are blocked that are denied too often.
	 * @param penalty the penalty
	 * @return this policy
	 */
	PolicyRegistration penalty(Penalty penalty);

	/**
	 * Sets the algorithm, with its options.
	 * @param algorithm one of the library, such as {@code new TokenBucket(100L)}, or one
	 * of the application
	 * @return this policy
	 */
	PolicyRegistration algorithm(Algorithm algorithm);

	/**
	 * Sets the identifiers, each with its own count.
	 * @param identifiers identifiers as in configuration, such as {@code ip} or
	 * {@code header:X-User}
	 * @return this policy
	 */
	PolicyRegistration identifiers(String... identifiers);

	/**
	 * Sets what happens to requests that lack an identifier.
	 * @param missing {@link MissingIdentifier#SKIP}, {@link MissingIdentifier#DENY}, or
	 * an identifier to count them by
	 * @return this policy
	 */
	PolicyRegistration missingIdentifier(MissingIdentifier missing);

	/**
	 * Sets the paths to limit.
	 * @param patterns path patterns, such as {@code /api/**} or {@code GET /user/**}
	 * @return this policy
	 */
	PolicyRegistration paths(String... patterns);

	/**
	 * Sets the paths to exclude from those of the policy.
	 * @param patterns path patterns, such as {@code GET /api/logo.png}
	 * @return this policy
	 */
	PolicyRegistration exclude(String... patterns);

	/**
	 * Sets the cost of a request on one of the {@linkplain #paths paths}.
	 * @param cost the cost, 0 or more
	 * @return this policy
	 */
	PolicyRegistration cost(long cost);

	/**
	 * Adds paths with their own cost. The first route that matches is used.
	 * @param cost the cost of a request, 0 or more
	 * @param patterns at least one path pattern, such as {@code POST /user/**}
	 * @return this policy
	 */
	PolicyRegistration route(long cost, String... patterns);

	/**
	 * Sets the condition under which the policy applies to a request.
	 * @param expression an expression over {@code #request}
	 * @return this policy
	 */
	PolicyRegistration when(String expression);

	/**
	 * Sets the condition under which the policy applies to a request. If it throws an
	 * exception, the policy applies, and this is logged once. It is called before the
	 * login, when the user is unknown, and must be safe for use by several threads.
	 * @param condition returns whether the policy applies; the body of the request must
	 * not be read
	 * @return this policy
	 */
	PolicyRegistration when(Predicate<HttpServletRequest> condition);

	/**
	 * Sets the condition under which the policy does not apply to a request.
	 * @param expression an expression over {@code #request}
	 * @return this policy
	 */
	PolicyRegistration unless(String expression);

	/**
	 * Sets the condition under which the policy does not apply to a request. The rules
	 * are those of {@link #when(Predicate)}.
	 * @param condition returns whether the policy does not apply
	 * @return this policy
	 */
	PolicyRegistration unless(Predicate<HttpServletRequest> condition);

	/**
	 * Sets the unit of the quotas.
	 * @param unit the unit, such as {@code bytes} or {@code tokens}
	 * @return this policy
	 */
	PolicyRegistration unit(String unit);

	/**
	 * Sets whether denied requests count as well.
	 * @param countDenied whether they count
	 * @return this policy
	 */
	PolicyRegistration countDenied(boolean countDenied);

	/**
	 * Sets whether requests beyond the limits are denied.
	 * @param mode the mode
	 * @return this policy
	 */
	PolicyRegistration mode(Mode mode);

	/**
	 * Sets what happens to requests while the store fails.
	 * @param onStoreFailure how requests are handled
	 * @return this policy
	 */
	PolicyRegistration onStoreFailure(OnStoreFailure onStoreFailure);

	/**
	 * Sets which responses count.
	 * @param condition the condition, such as {@code status in [401, 403]}
	 * @return this policy
	 */
	PolicyRegistration countWhen(String condition);

	/**
	 * Adds a plan, whose users have other limits.
	 * @param name the name of the plan, without brackets
	 * @param limits at least one limit, such as {@code 100/s}
	 * @return this policy
	 * @throws IllegalArgumentException if the name is invalid
	 */
	PolicyRegistration plan(String name, String... limits);

	/**
	 * Adds a plan whose users are not limited by the policy.
	 * @param name the name of the plan, without brackets
	 * @return this policy
	 * @throws IllegalArgumentException if the name is invalid
	 */
	PolicyRegistration unlimitedPlan(String name);

}
