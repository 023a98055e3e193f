package io.github.ratelimit.spring.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.PolicyRegistration;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Collects the properties of a policy that a bean declares. Objects that are no values of
 * properties get a name.
 */
final class DeclaredPolicy extends PolicyRegistration {

	private final String id;

	private final Map<String, Object> properties = new LinkedHashMap<>();

	private final Map<String, Algorithm> algorithms;

	private final Map<String, Predicate<HttpServletRequest>> conditions;

	private int routes;

	/** The maps receive the algorithm and the conditions by what the properties say. */
	DeclaredPolicy(String id, Map<String, Algorithm> algorithms,
			Map<String, Predicate<HttpServletRequest>> conditions) {
		this.id = id;
		this.algorithms = algorithms;
		this.conditions = conditions;
	}

	/** Returns the properties, by their names below that of the policy. */
	Map<String, Object> properties() {
		return this.properties;
	}

	@Override
	protected PolicyRegistration set(String option, Object value) {
		Objects.requireNonNull(value, option);
		remove(option);
		return put(option, value);
	}

	private void remove(String option) {
		this.properties.keySet()
			.removeIf((name) -> name.equals(option) || name.startsWith(option + "[") || name.startsWith(option + "."));
	}

	private PolicyRegistration put(String name, Object value) {
		if (value instanceof List<?> list) {
			for (int i = 0; i < list.size(); i++) {
				this.properties.put(name + "[" + i + "]", list.get(i));
			}
		}
		else {
			this.properties.put(name, value);
		}
		return this;
	}

	@Override
	public PolicyRegistration algorithm(Algorithm algorithm) {
		String name = "%s of %s".formatted(algorithm.name(), this.id);
		this.algorithms.put(name, algorithm);
		return set("algorithm", name);
	}

	@Override
	public PolicyRegistration penalty(Penalty penalty) {
		remove("penalty");
		put("penalty.after", penalty.after());
		put("penalty.within", penalty.within());
		put("penalty.block", penalty.block());
		if (!penalty.upTo().equals(penalty.block())) {
			// As long as the block is the default, also if that is replaced.
			put("penalty.up-to", penalty.upTo());
		}
		return penalty.shadow() ? put("penalty.mode", Mode.SHADOW) : this;
	}

	@Override
	public PolicyRegistration when(Predicate<HttpServletRequest> condition) {
		return condition("when", condition);
	}

	@Override
	public PolicyRegistration unless(Predicate<HttpServletRequest> condition) {
		return condition("unless", condition);
	}

	private PolicyRegistration condition(String option, Predicate<HttpServletRequest> condition) {
		String name = "@%s.%s".formatted(this.id, option);
		this.conditions.put(name, Objects.requireNonNull(condition, option));
		return set(option, name);
	}

	@Override
	public PolicyRegistration route(long cost, String... patterns) {
		String route = "routes[" + this.routes++ + "]";
		put(route + ".cost", cost);
		if (patterns.length > 0) {
			// One value: Spring Boot refuses paths[0] of a route that is replaced.
			this.properties.put(route + ".paths", List.of(patterns));
		}
		return this;
	}

	@Override
	protected PolicyRegistration addPlan(String name, List<String> limits, @Nullable Long burst, boolean unlimited) {
		if (name.isBlank() || !DeclaredPolicies.canBeProperty(name)) {
			throw new IllegalArgumentException(
					"Invalid name of a plan (%s): must not be blank, and have no brackets.".formatted(name));
		}
		String plan = MapKeys.element("plans", name);
		remove(plan);
		put(plan + ".limits", limits);
		if (burst != null) {
			put(plan + ".burst", burst);
		}
		return put(plan + ".unlimited", unlimited);
	}

}
