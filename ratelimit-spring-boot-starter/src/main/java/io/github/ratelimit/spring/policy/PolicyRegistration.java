package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.outage.OnStoreFailure;
import jakarta.servlet.http.HttpServletRequest;

/**
 * A policy that is declared in code. Each method sets the property of the same name below
 * {@code ratelimit.policies.NAME}, which is described there and has the same default, and
 * returns this policy. A second call replaces the first one, except that routes and plans
 * are added.
 * <p>
 * Texts may contain placeholders, such as <code>${SEARCH_LIMIT:10/s}</code>. Values are
 * checked when the application starts, like those of a file.
 * <p>
 * Used by one thread.
 *
 * @since 0.1
 */
public final class PolicyRegistration {

	private final Map<String, Object> options = new LinkedHashMap<>();

	private final List<Map<String, Object>> routes = new ArrayList<>();

	private final Map<String, Map<String, Object>> plans = new LinkedHashMap<>();

	/** Creates a policy without options. */
	public PolicyRegistration() {
	}

	/**
	 * Returns the options that are set, by their names in configuration. An algorithm and
	 * a condition are objects; routes, plans and the penalty have options of their own.
	 */
	public Map<String, Object> options() {
		return Collections.unmodifiableMap(this.options);
	}

	/** Sets whether the policy limits anything. */
	public PolicyRegistration enabled(boolean enabled) {
		return set("enabled", enabled);
	}

	/** Sets the limits, at least one, such as {@code 10/s} or {@code 100/15m}. */
	public PolicyRegistration limits(String... limits) {
		return set("limits", List.of(limits));
	}

	/** Sets the limits. */
	public PolicyRegistration limits(Limit... limits) {
		return set("limits", Stream.of(limits).map(Limit::toString).toList());
	}

	/**
	 * Sets how many requests of an identifier may run at the same time, over all
	 * instances. The policy then needs no limits.
	 */
	public PolicyRegistration concurrent(long most) {
		return set("concurrent", most);
	}

	/** Sets after what time a request no longer runs if its instance has died. */
	public PolicyRegistration concurrentLease(Duration lease) {
		return set("concurrent-lease", lease);
	}

	/** Sets the time for which each instance takes a part of the quota in advance. */
	public PolicyRegistration lease(Duration lease) {
		return set("lease", lease);
	}

	/** Sets how identifiers are blocked that are denied too often. */
	public PolicyRegistration penalty(Penalty penalty) {
		Map<String, Object> options = new LinkedHashMap<>(
				Map.of("after", penalty.after(), "within", penalty.within(), "block", penalty.block()));
		if (!penalty.upTo().equals(penalty.block())) {
			// As long as the block is the default, also if that is replaced.
			options.put("up-to", penalty.upTo());
		}
		if (penalty.shadow()) {
			options.put("mode", Mode.SHADOW);
		}
		return set("penalty", options);
	}

	/** Sets the algorithm with its options: one of the library, or an own one. */
	public PolicyRegistration algorithm(Algorithm algorithm) {
		return set("algorithm", algorithm);
	}

	/** Sets the identifiers, such as {@code ip} or {@code header:X-User}. */
	public PolicyRegistration identifiers(String... identifiers) {
		return set("identifiers", List.of(identifiers));
	}

	/** Sets what happens to requests that lack an identifier. */
	public PolicyRegistration missingIdentifier(MissingIdentifier missing) {
		return set("missing-identifier", missing.toString());
	}

	/** Sets the paths to limit, such as {@code /api/**} or {@code GET /user/**}. */
	public PolicyRegistration paths(String... patterns) {
		return set("paths", List.of(patterns));
	}

	/** Sets the paths to exclude, such as {@code GET /api/logo.png}. */
	public PolicyRegistration exclude(String... patterns) {
		return set("exclude", List.of(patterns));
	}

	/** Sets the cost of a request on one of the {@linkplain #paths paths}, 0 or more. */
	public PolicyRegistration cost(long cost) {
		return set("cost", cost);
	}

	/**
	 * Adds paths with their own cost. The first route that matches is used.
	 * @param cost the cost of a request, 0 or more
	 * @param patterns at least one path pattern, such as {@code POST /user/**}
	 */
	public PolicyRegistration route(long cost, String... patterns) {
		this.routes.add(Map.of("cost", cost, "paths", List.of(patterns)));
		return set("routes", this.routes);
	}

	/** Sets under which condition, an expression, the policy applies to a request. */
	public PolicyRegistration when(String expression) {
		return set("when", expression);
	}

	/**
	 * Sets the condition under which the policy applies to a request. If it throws an
	 * exception, the policy applies, and this is logged once. It is called before the
	 * login, when the user is unknown, and must be safe for use by several threads.
	 * @param condition returns whether the policy applies; the body of the request must
	 * not be read
	 */
	public PolicyRegistration when(Predicate<HttpServletRequest> condition) {
		return set("when", condition);
	}

	/** Sets under which condition, an expression, the policy does not apply. */
	public PolicyRegistration unless(String expression) {
		return set("unless", expression);
	}

	/**
	 * Sets the condition under which the policy does not apply to a request, as for
	 * {@link #when(Predicate)}.
	 */
	public PolicyRegistration unless(Predicate<HttpServletRequest> condition) {
		return set("unless", condition);
	}

	/** Sets the unit of the quotas, such as {@code bytes} or {@code tokens}. */
	public PolicyRegistration unit(String unit) {
		return set("unit", unit);
	}

	/**
	 * Sets the expression whose text is kept with each request. The policy must have the
	 * algorithm {@code sliding-log}.
	 */
	public PolicyRegistration metadata(String expression) {
		return set("metadata", expression);
	}

	/** Sets whether denied requests count as well. */
	public PolicyRegistration countDenied(boolean countDenied) {
		return set("count-denied", countDenied);
	}

	/** Sets whether requests beyond the limits are denied. */
	public PolicyRegistration mode(Mode mode) {
		return set("mode", mode);
	}

	/** Sets what happens to requests while the store fails. */
	public PolicyRegistration onStoreFailure(OnStoreFailure onStoreFailure) {
		return set("on-store-failure", onStoreFailure);
	}

	/** Sets which responses count, such as {@code status in [401, 403]}. */
	public PolicyRegistration countWhen(String condition) {
		return set("count-when", condition);
	}

	/** Sets which responses reset counts, such as {@code status in [200, 204]}. */
	public PolicyRegistration resetWhen(String condition) {
		return set("reset-when", condition);
	}

	/** Sets of which of the identifiers the counts are reset. */
	public PolicyRegistration reset(String... identifiers) {
		return set("reset", List.of(identifiers));
	}

	/**
	 * Adds a plan, whose users have other limits.
	 * @param name the name of the plan, without brackets
	 * @param limits at least one limit, such as {@code 100/s}
	 * @throws IllegalArgumentException if the name is invalid
	 */
	public PolicyRegistration plan(String name, String... limits) {
		return addPlan(name, Map.of("limits", List.of(limits), "unlimited", false));
	}

	/**
	 * Adds a plan, whose users have other limits and another burst. The policy must have
	 * the algorithm {@code token-bucket}.
	 * @param name the name of the plan, without brackets
	 * @param burst the maximum number of tokens
	 * @param limits one limit, such as {@code 100/s}
	 * @throws IllegalArgumentException if the name is invalid
	 */
	public PolicyRegistration plan(String name, long burst, String... limits) {
		return addPlan(name, Map.of("limits", List.of(limits), "burst", burst, "unlimited", false));
	}

	/**
	 * Adds a plan whose users are not limited by the policy.
	 * @param name the name of the plan, without brackets
	 * @throws IllegalArgumentException if the name is invalid
	 */
	public PolicyRegistration unlimitedPlan(String name) {
		return addPlan(name, Map.of("unlimited", true));
	}

	private PolicyRegistration addPlan(String name, Map<String, Object> options) {
		if (name.isBlank() || name.indexOf('[') >= 0 || name.indexOf(']') >= 0) {
			throw new IllegalArgumentException(
					"Invalid name of a plan (%s): must not be blank, and have no brackets.".formatted(name));
		}
		this.plans.put(name, options);
		return set("plans", this.plans);
	}

	private PolicyRegistration set(String option, Object value) {
		this.options.put(option, Objects.requireNonNull(value, option));
		return this;
	}

}
