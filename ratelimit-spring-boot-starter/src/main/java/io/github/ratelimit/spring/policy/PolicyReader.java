package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.Enforcement;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.Plan;
import io.github.ratelimit.spring.ResponseCondition;
import io.github.ratelimit.spring.policy.RateLimitProperties.DefaultProperties;
import io.github.ratelimit.spring.policy.RateLimitProperties.PolicyProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Creates policies from properties. Errors name the property and its value.
 */
public final class PolicyReader {

	private static final String DEFAULTS = "ratelimit.defaults.";

	private static final String OLD_IDENTIFIERS = "ratelimit.default-identifiers";

	private final RateLimitProperties properties;

	private final Environment environment;

	private final ListPropertyNames names;

	public PolicyReader(RateLimitProperties properties, Environment environment) {
		this.properties = properties;
		this.environment = environment;
		this.names = new ListPropertyNames(environment);
	}

	ConfiguredPolicies readPolicies(NamedAlgorithms algorithms) {
		return readPolicies(algorithms, readDefaults(algorithms));
	}

	/** Reads policies with given defaults instead of those of the properties. */
	ConfiguredPolicies readPolicies(NamedAlgorithms algorithms, ConfiguredPolicies.Defaults defaults) {
		PolicyNames.requireDistinct(this.environment);
		Map<String, IdentifiedPolicy> policies = new LinkedHashMap<>();
		this.properties.policies()
			.forEach((name, policy) -> policies.put(name, readPolicy(name, policy, algorithms, defaults)));
		return new ConfiguredPolicies(policies, defaults);
	}

	private ConfiguredPolicies.Defaults readDefaults(NamedAlgorithms algorithms) {
		// An environment variable of this name would have no effect; other sources are
		// already checked.
		Binder.get(this.environment).bind(OLD_IDENTIFIERS, String.class).ifBound((value) -> {
			throw new InvalidConfigurationPropertyValueException(OLD_IDENTIFIERS, value,
					"Has been renamed to ratelimit.defaults.identifiers.");
		});
		DefaultProperties defaults = this.properties.defaults();
		List<String> identifiers = defaults.identifiers();
		if (identifiers.isEmpty() || identifiers.stream().distinct().count() != identifiers.size()) {
			throw new InvalidConfigurationPropertyValueException(DEFAULTS + "identifiers", identifiers,
					"There must be at least one identifier, such as ip, and no duplicates.");
		}
		Algorithm algorithm = read(DEFAULTS + "algorithm", defaults.algorithm(),
				() -> algorithms.get(defaults.algorithm()));
		MissingIdentifier missing = read(DEFAULTS + "missing-identifier", defaults.missingIdentifier(),
				() -> MissingIdentifier.parse(defaults.missingIdentifier()));
		return new ConfiguredPolicies.Defaults(identifiers, algorithm, defaults.countDenied(),
				new Enforcement(defaults.mode(), defaults.onStoreFailure(), null, missing));
	}

	/** Refuses policies that the store does not support. */
	void requireSupported(ConfiguredPolicies policies, RateLimiter limiter) {
		policies.policies().forEach((name, policy) -> {
			PolicyProperties configured = this.properties.policies().get(name);
			String algorithm = (configured != null) ? configured.algorithm() : null;
			if (policy.policy().penalty() != null) {
				requirePenalty(name, policy.policy(), limiter);
			}
			boolean isDefault = configured != null && algorithm == null;
			requireCallsSupported(policy, limiter);
			if (policy.policy().algorithm().countsCalls()) {
				return;
			}
			String written = isDefault ? this.properties.defaults().algorithm() : policy.policy().algorithm().name();
			read(isDefault ? DEFAULTS + "algorithm" : property(name, ".algorithm"),
					(algorithm != null) ? algorithm : written, () -> {
						policy.policies().forEach((each) -> limiter.requireSupported(each.withLease(null)));
						return policy;
					});
			Duration lease = policy.policy().lease();
			if (lease != null) {
				read(property(name, ".lease"), lease, () -> {
					limiter.requireSupported(policy.policy());
					return policy;
				});
			}
		});
	}

	/** Names the penalty, if the policy is supported without it. */
	private static void requirePenalty(String name, Policy policy, RateLimiter limiter) {
		try {
			limiter.requireSupported(policy.withPenalty(null).withLease(null));
		}
		catch (IllegalArgumentException ex) {
			return;
		}
		read(property(name, ".penalty"), Objects.requireNonNull(policy.penalty()), () -> {
			limiter.requireSupported(policy.withLease(null));
			return policy;
		});
	}

	private static void requireCallsSupported(IdentifiedPolicy policy, RateLimiter limiter) {
		for (Policy each : policy.policies()) {
			if (each.algorithm().countsCalls()) {
				read(property(policy.policy().name(), ".concurrent"), each.limits().get(0).quota(), () -> {
					limiter.requireSupported(each);
					return each;
				});
			}
		}
	}

	private IdentifiedPolicy readPolicy(String name, PolicyProperties properties, NamedAlgorithms algorithms,
			ConfiguredPolicies.Defaults defaults) {
		read(property(name, ""), name, () -> {
			Policy.requireName(name);
			BeforeLogin.requireOther(name);
			CallsAtOnce.requireOther(name);
			return name;
		});
		if (properties.limits().isEmpty() && properties.concurrent() == null) {
			throw new InvalidConfigurationPropertyValueException(property(name, ".limits"), null,
					"A policy must have at least one limit, such as 100/m, or concurrent, such as 5.");
		}
		if (properties.cost() != 1 && properties.paths().isEmpty()) {
			throw new InvalidConfigurationPropertyValueException(property(name, ".cost"), properties.cost(),
					"Has no effect without paths.");
		}
		List<String> identifiers = properties.identifiers().isEmpty() ? defaults.identifiers()
				: properties.identifiers();
		Enforcement enforcement = enforcement(name, properties, defaults.enforcement());
		Policy calls = readCalls(name, properties);
		if (calls != null && properties.limits().isEmpty()) {
			requireNothingForLimits(name, properties);
			return read(property(name, ".identifiers"), identifiers,
					() -> new IdentifiedPolicy(calls, identifiers, enforcement));
		}
		Policy policy = readLimits(name, properties, algorithms, defaults, identifiers, enforcement.missing());
		Map<String, Plan> plans = readPlans(policy, properties);
		return read(property(name, ".identifiers"), identifiers,
				() -> new IdentifiedPolicy(policy, identifiers, enforcement, plans, calls));
	}

	private Policy readLimits(String name, PolicyProperties properties, NamedAlgorithms algorithms,
			ConfiguredPolicies.Defaults defaults, List<String> identifiers, MissingIdentifier missing) {
		List<Limit> limits = readEach(property(name, ".limits"), properties.limits(), Limit::parse);
		Algorithm algorithm = AlgorithmReader.read(property(name, ""), properties, limits, algorithms,
				defaults.algorithm());
		Penalty penalty = PenaltyReader.read(property(name, ".penalty"), properties.penalty(), identifiers, missing);
		Policy policy = read(property(name, ".limits"), properties.limits(),
				() -> new Policy(name, algorithm, limits, or(properties.countDenied(), defaults.countDenied())))
			.withPenalty(penalty);
		Duration lease = properties.lease();
		return (lease != null) ? read(property(name, ".lease"), lease, () -> policy.withLease(lease)) : policy;
	}

	/** Returns the policy of concurrent calls; {@code null} if they are not limited. */
	private static @Nullable Policy readCalls(String name, PolicyProperties properties) {
		Long most = properties.concurrent();
		Duration lease = properties.concurrentLease();
		if (most == null) {
			if (lease != null) {
				throw new InvalidConfigurationPropertyValueException(property(name, ".concurrent-lease"), lease,
						"Has no effect without concurrent.");
			}
			return null;
		}
		read(property(name, ".concurrent"), most, () -> CallsAtOnce.requireNumber(most));
		Duration present = (lease != null) ? lease : CallsAtOnce.DEFAULT_LEASE;
		read(property(name, ".concurrent-lease"), present, () -> CallsAtOnce.requireLease(present));
		return properties.limits().isEmpty() ? CallsAtOnce.alone(name, most, present)
				: CallsAtOnce.beside(name, most, present);
	}

	/** Refuses what has no effect on a policy without limits. */
	private static void requireNothingForLimits(String name, PolicyProperties properties) {
		Map<String, @Nullable Object> set = new LinkedHashMap<>();
		set.put("algorithm", properties.algorithm());
		set.put("cost", (properties.cost() != 1) ? properties.cost() : null);
		set.put("routes", properties.routes().stream().anyMatch((route) -> route.cost() > 1) ? "cost" : null);
		set.put("unit", properties.unit());
		set.put("count-denied", properties.countDenied());
		set.put("count-when", properties.countWhen());
		set.put("plans", properties.plans().isEmpty() ? null : properties.plans().keySet());
		set.put("retain", properties.retain());
		set.put("zone", properties.zone());
		set.put("precision", properties.precision());
		set.put("previous-weight", properties.previousWeight());
		set.put("rounding", properties.rounding());
		set.put("burst", properties.burst());
		set.put("lease", properties.lease());
		set.put("penalty", properties.penalty());
		set.forEach((property, value) -> {
			if (value != null) {
				throw new InvalidConfigurationPropertyValueException(property(name, "." + property), value,
						"Has no effect without limits.");
			}
		});
	}

	private static Enforcement enforcement(String policy, PolicyProperties properties, Enforcement defaults) {
		String missing = properties.missingIdentifier();
		return new Enforcement(or(properties.mode(), defaults.mode()),
				or(properties.onStoreFailure(), defaults.onStoreFailure()), countWhen(policy, properties.countWhen()),
				(missing != null)
						? read(property(policy, ".missing-identifier"), missing, () -> MissingIdentifier.parse(missing))
						: defaults.missing());
	}

	private static <T> T or(@Nullable T value, T standard) {
		return (value != null) ? value : standard;
	}

	private Map<String, Plan> readPlans(Policy policy, PolicyProperties properties) {
		Map<String, Plan> plans = new LinkedHashMap<>();
		properties.plans().forEach((name, plan) -> {
			String prefix = element(property(policy.name(), ".plans"), name);
			if (plan.limits().isEmpty() && !plan.unlimited()) {
				throw new InvalidConfigurationPropertyValueException(prefix, "",
						"Is an empty plan: give it limits, such as 100/m, or unlimited: true.");
			}
			if (!plan.limits().isEmpty() && plan.unlimited()) {
				throw new InvalidConfigurationPropertyValueException(prefix, plan.limits(),
						"Has limits, but is unlimited as well: remove one of them.");
			}
			List<Limit> limits = readEach(prefix + ".limits", plan.limits(), Limit::parse);
			plans.put(name, plan.unlimited() ? Plan.UNLIMITED
					: new Plan(read(prefix + ".limits", plan.limits(), () -> policy.withLimits(limits))));
		});
		return plans;
	}

	private static @Nullable ResponseCondition countWhen(String policy, @Nullable String condition) {
		return (condition != null)
				? read(property(policy, ".count-when"), condition, () -> ResponseCondition.parse(condition)) : null;
	}

	public <T> List<T> readEach(String property, List<String> values, Function<String, T> reader) {
		List<T> results = new ArrayList<>();
		for (int i = 0; i < values.size(); i++) {
			String value = values.get(i);
			results.add(read(this.names.element(property, i), value, () -> reader.apply(value)));
		}
		return results;
	}

	public static <T> T read(String property, Object value, Supplier<T> reader) {
		try {
			return reader.get();
		}
		catch (IllegalArgumentException ex) {
			// Without the cause, which Spring Boot takes from 4.1 on only.
			throw new InvalidConfigurationPropertyValueException(property, value, ex.getMessage());
		}
	}

	public static String property(String policy, String rest) {
		return element("ratelimit.policies", policy) + rest;
	}

	/** Returns the name of an element of a map. */
	private static String element(String map, String name) {
		return map + (name.matches("[a-z0-9-]+") ? "." + name : "[" + name + "]");
	}

}
