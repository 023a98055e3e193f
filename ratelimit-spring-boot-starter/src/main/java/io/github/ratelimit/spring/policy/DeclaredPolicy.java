package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.PolicyRegistration;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Collects the properties of a policy that a bean declares. Objects that text cannot
 * express get a name.
 */
final class DeclaredPolicy implements PolicyRegistration {

	private static final String ALGORITHM = "algorithm";

	private final String id;

	private final Map<String, Object> properties = new LinkedHashMap<>();

	private final List<Map<String, Object>> routes = new ArrayList<>();

	private final Map<String, Object> plans = new LinkedHashMap<>();

	private final Map<String, Algorithm> algorithms = new LinkedHashMap<>();

	private final Map<String, Predicate<HttpServletRequest>> conditions = new LinkedHashMap<>();

	/**
	 * Creates a policy without any properties.
	 * @param bean the name of the bean that declares it
	 * @param name the name of the policy
	 */
	DeclaredPolicy(String bean, String name) {
		this.id = bean + "." + name;
	}

	/** Returns the properties, of which lists and groups are nested. */
	Map<String, Object> properties() {
		Map<String, Object> properties = new LinkedHashMap<>(this.properties);
		if (properties.get(ALGORITHM) instanceof Algorithm algorithm) {
			boolean known = Algorithms.all().stream().anyMatch((other) -> other.getClass() == algorithm.getClass());
			properties.putAll(known ? AlgorithmReader.properties(algorithm) : Map.of(ALGORITHM, this.id));
		}
		properties.put("routes", this.routes);
		properties.put("plans", this.plans);
		return properties;
	}

	/** Returns the algorithms that the properties may name. */
	Map<String, Algorithm> algorithms() {
		return this.algorithms;
	}

	/** Returns the conditions that the properties may name. */
	Map<String, Predicate<HttpServletRequest>> conditions() {
		return this.conditions;
	}

	private PolicyRegistration set(String property, Object value) {
		this.properties.put(property, Objects.requireNonNull(value, property));
		return this;
	}

	private PolicyRegistration condition(String property, Predicate<HttpServletRequest> condition) {
		String name = "@%s.%s".formatted(this.id, property);
		this.conditions.put(name, Objects.requireNonNull(condition, property));
		return set(property, name);
	}

	@Override
	public PolicyRegistration limits(String... limits) {
		return set("limits", List.of(limits));
	}

	@Override
	public PolicyRegistration limits(Limit... limits) {
		return set("limits", Stream.of(limits).map(Limit::toString).toList());
	}

	@Override
	public PolicyRegistration concurrent(long most) {
		return set("concurrent", most);
	}

	@Override
	public PolicyRegistration concurrentLease(Duration lease) {
		return set("concurrent-lease", lease);
	}

	@Override
	public PolicyRegistration lease(Duration lease) {
		return set("lease", lease);
	}

	@Override
	public PolicyRegistration penalty(Penalty penalty) {
		Map<String, Object> parts = new LinkedHashMap<>();
		parts.put("after", penalty.after());
		parts.put("within", penalty.within());
		parts.put("block", penalty.block());
		// As long as the block is the default, also if that is replaced.
		if (!penalty.upTo().equals(penalty.block())) {
			parts.put("up-to", penalty.upTo());
		}
		parts.put("mode", penalty.shadow() ? Mode.SHADOW : Mode.ENFORCE);
		return set("penalty", parts);
	}

	@Override
	public PolicyRegistration algorithm(Algorithm algorithm) {
		this.algorithms.put(this.id, algorithm);
		return set(ALGORITHM, algorithm);
	}

	@Override
	public PolicyRegistration identifiers(String... identifiers) {
		return set("identifiers", List.of(identifiers));
	}

	@Override
	public PolicyRegistration missingIdentifier(MissingIdentifier missing) {
		return set("missing-identifier", missing.toString());
	}

	@Override
	public PolicyRegistration paths(String... patterns) {
		return set("paths", List.of(patterns));
	}

	@Override
	public PolicyRegistration exclude(String... patterns) {
		return set("exclude", List.of(patterns));
	}

	@Override
	public PolicyRegistration cost(long cost) {
		return set("cost", cost);
	}

	@Override
	public PolicyRegistration route(long cost, String... patterns) {
		this.routes.add(Map.of("paths", List.of(patterns), "cost", cost));
		return this;
	}

	@Override
	public PolicyRegistration when(String expression) {
		return set("when", expression);
	}

	@Override
	public PolicyRegistration when(Predicate<HttpServletRequest> condition) {
		return condition("when", condition);
	}

	@Override
	public PolicyRegistration unless(String expression) {
		return set("unless", expression);
	}

	@Override
	public PolicyRegistration unless(Predicate<HttpServletRequest> condition) {
		return condition("unless", condition);
	}

	@Override
	public PolicyRegistration unit(String unit) {
		return set("unit", unit);
	}

	@Override
	public PolicyRegistration countDenied(boolean countDenied) {
		return set("count-denied", countDenied);
	}

	@Override
	public PolicyRegistration mode(Mode mode) {
		return set("mode", mode);
	}

	@Override
	public PolicyRegistration onStoreFailure(OnStoreFailure onStoreFailure) {
		return set("on-store-failure", onStoreFailure);
	}

	@Override
	public PolicyRegistration countWhen(String condition) {
		return set("count-when", condition);
	}

	@Override
	public PolicyRegistration plan(String name, String... limits) {
		// An empty plan is refused later, like one of a file.
		return addPlan(name, (limits.length > 0) ? Map.of("limits", List.of(limits)) : Map.of("unlimited", false));
	}

	@Override
	public PolicyRegistration unlimitedPlan(String name) {
		return addPlan(name, Map.of("unlimited", true));
	}

	private PolicyRegistration addPlan(String name, Map<String, Object> plan) {
		if (name.isBlank() || !DeclaredPolicies.canBeProperty(name)) {
			throw new IllegalArgumentException(
					"Invalid name of a plan (%s): must not be blank, and have no brackets.".formatted(name));
		}
		this.plans.put(name, plan);
		return this;
	}

}
