package io.github.ratelimit.spring.config;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.config.PolicySettings.PenaltySettings;
import io.github.ratelimit.spring.config.RateLimitProperties.DefaultProperties;
import io.github.ratelimit.spring.decide.ConcurrentLimit;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.NearestNames;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.Plan;
import io.github.ratelimit.spring.policy.ResponseCondition;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Creates policies from settings. Errors name the property and its value. */
public final class PolicyReader {

	private static final String DEFAULTS = "ratelimit.defaults.";

	private static final String IN_VAIN = "Has no effect without limits.";

	private final Map<String, PolicySettings> settings;

	private final DefaultProperties defaults;

	PolicyReader(Map<String, PolicySettings> settings, DefaultProperties defaults) {
		this.settings = settings;
		this.defaults = defaults;
	}

	ConfiguredPolicies.Defaults readDefaults(NamedAlgorithms algorithms) {
		List<String> identifiers = this.defaults.identifiers();
		if (identifiers.isEmpty() || identifiers.stream().distinct().count() != identifiers.size()) {
			throw invalid(DEFAULTS + "identifiers", identifiers,
					"There must be at least one identifier, such as ip, and no duplicates.");
		}
		return new ConfiguredPolicies.Defaults(identifiers,
				read(DEFAULTS + "algorithm", this.defaults.algorithm(),
						() -> algorithms.get(this.defaults.algorithm())),
				this.defaults.countDenied(),
				new Enforcement(this.defaults.mode(), this.defaults.onStoreFailure(), null,
						read(DEFAULTS + "missing-identifier", this.defaults.missingIdentifier(),
								() -> MissingIdentifier.parse(this.defaults.missingIdentifier()))));
	}

	ConfiguredPolicies readPolicies(NamedAlgorithms algorithms, ConfiguredPolicies.Defaults defaults) {
		Map<String, IdentifiedPolicy> policies = new LinkedHashMap<>();
		this.settings.forEach((name, settings) -> {
			IdentifiedPolicy policy = readPolicy(name, settings, algorithms, defaults);
			require(property(name, ".cost"), settings.costOfPaths(), policy::requirePossible);
			for (int i = 0; i < settings.routes().size(); i++) {
				require(property(name, ".routes[" + i + "].cost"), settings.routes().get(i).cost(),
						policy::requirePossible);
			}
			policies.put(name, policy);
		});
		return new ConfiguredPolicies(policies, defaults);
	}

	private IdentifiedPolicy readPolicy(String name, PolicySettings settings, NamedAlgorithms algorithms,
			ConfiguredPolicies.Defaults defaults) {
		require(property(name, ""), name, (valid) -> {
			Policy.requireName(name);
			ConcurrentLimit.requireOther(name);
		});
		if (settings.limits().isEmpty() && settings.concurrent() == null) {
			throw withoutLimits(name);
		}
		if (settings.costOfPaths() != 1 && settings.paths().isEmpty()) {
			throw invalid(property(name, ".cost"), settings.costOfPaths(), "Has no effect without paths.");
		}
		List<String> identifiers = settings.identifiers().isEmpty() ? defaults.identifiers() : settings.identifiers();
		requireReset(name, settings, identifiers);
		Enforcement enforcement = readEnforcement(name, settings, defaults.enforcement());
		Policy concurrent = readConcurrent(name, settings);
		if (concurrent != null && settings.limits().isEmpty()) {
			requireNothingForLimits(name, settings);
			return read(property(name, ".identifiers"), identifiers,
					() -> new IdentifiedPolicy(concurrent, identifiers, enforcement));
		}
		Policy policy = readLimits(name, settings, algorithms, defaults,
				readPenalty(property(name, ".penalty"), settings.penalty(), identifiers, enforcement.missing()));
		Map<String, Plan> plans = readPlans(policy, settings);
		return read(property(name, ".identifiers"), identifiers,
				() -> new IdentifiedPolicy(policy, identifiers, enforcement, plans, concurrent));
	}

	/** Who misspells the name of a policy sets the options of another one. */
	private InvalidConfigurationPropertyValueException withoutLimits(String name) {
		String rule = "A policy must have at least one limit, such as 100/m, or concurrent, such as 5.";
		Set<String> others = new TreeSet<>(this.settings.keySet());
		others.remove(name);
		String question = NearestNames.question(name, others);
		return question.isEmpty() ? invalid(property(name, ".limits"), null, rule) : invalid(property(name, ""), name,
				"There is no policy of this name, as nothing gives it limits.%s %s".formatted(question, rule));
	}

	private static Enforcement readEnforcement(String policy, PolicySettings settings, Enforcement defaults) {
		String missing = settings.missingIdentifier();
		return read(property(policy, ".reset"), settings.reset(),
				() -> new Enforcement(PolicySettings.or(settings.mode(), defaults.mode()),
						PolicySettings.or(settings.onStoreFailure(), defaults.onStoreFailure()),
						readCondition(property(policy, ".count-when"), settings.countWhen()),
						(missing != null) ? read(property(policy, ".missing-identifier"), missing,
								() -> MissingIdentifier.parse(missing)) : defaults.missing(),
						PolicySettings.or(settings.enabled(), true),
						readCondition(property(policy, ".reset-when"), settings.resetWhen()), settings.reset()));
	}

	private static @Nullable ResponseCondition readCondition(String property, @Nullable String text) {
		return (text != null) ? read(property, text, () -> ResponseCondition.parse(text)) : null;
	}

	/** Refuses resets of other identifiers, and those that anybody could cause. */
	private static void requireReset(String policy, PolicySettings settings, List<String> identifiers) {
		List<String> reset = settings.reset();
		String when = settings.resetWhen();
		if (!identifiers.containsAll(reset)) {
			throw invalid(property(policy, ".reset"), reset,
					"Must be among the identifiers %s.".formatted(identifiers));
		}
		Stream<String> routes = settings.routes().stream().flatMap((route) -> route.paths().stream());
		Stream.concat(settings.paths().stream(), routes)
			.filter((path) -> when != null && path.strip().startsWith("/"))
			.findFirst()
			.ifPresent((path) -> {
				throw invalid(property(policy, ".reset-when"), when,
						"Needs a method before the path %s, such as POST: OPTIONS would succeed as well, without a password."
							.formatted(path));
			});
	}

	/**
	 * Returns the policy of concurrent requests; {@code null} if they are not limited.
	 */
	private static @Nullable Policy readConcurrent(String name, PolicySettings settings) {
		Long most = settings.concurrent();
		Duration lease = settings.concurrentLease();
		if (most == null) {
			if (lease != null) {
				throw invalid(property(name, ".concurrent-lease"), lease, "Has no effect without concurrent.");
			}
			return null;
		}
		Duration present = PolicySettings.or(lease, ConcurrentLimit.DEFAULT_LEASE);
		require(property(name, ".concurrent"), most, ConcurrentLimit::requireNumber);
		require(property(name, ".concurrent-lease"), present, ConcurrentLimit::requireLease);
		return settings.limits().isEmpty() ? ConcurrentLimit.alone(name, most, present)
				: ConcurrentLimit.beside(name, most, present);
	}

	/** Refuses what has no effect on a policy without limits. */
	private static void requireNothingForLimits(String name, PolicySettings settings) {
		SetOptions.of(settings).forEach((option, value) -> {
			if (!PolicySettings.option(option).withoutLimits()) {
				throw invalid(property(name, "." + option), (value instanceof Map<?, ?> group) ? group.keySet() : value,
						IN_VAIN);
			}
		});
		if (settings.routes().stream().anyMatch((route) -> route.cost() > 1)) {
			throw invalid(property(name, ".routes"), "cost", IN_VAIN);
		}
	}

	private Policy readLimits(String name, PolicySettings settings, NamedAlgorithms algorithms,
			ConfiguredPolicies.Defaults defaults, @Nullable Penalty penalty) {
		List<Limit> limits = readEach(property(name, ".limits"), settings.limits(), Limit::parse);
		Algorithm algorithm = algorithms.read(name, settings, limits, defaults.algorithm());
		boolean countDenied = PolicySettings.or(settings.countDenied(), defaults.countDenied());
		Policy policy = read(property(name, ".limits"), settings.limits(),
				() -> new Policy(name, algorithm, limits, countDenied))
			.withPenalty(penalty);
		Duration lease = settings.lease();
		return (lease != null) ? read(property(name, ".lease"), lease, () -> policy.withLease(lease)) : policy;
	}

	private static @Nullable Penalty readPenalty(String property, @Nullable PenaltySettings settings,
			List<String> identifiers, MissingIdentifier missing) {
		if (settings == null) {
			return null;
		}
		Integer after = settings.after();
		Duration within = settings.within();
		Duration block = settings.block();
		return read(property, SetOptions.part(settings), () -> {
			if (after == null || within == null || block == null) {
				throw new IllegalArgumentException(
						"A penalty needs after, within and block, such as after: 20, within: 1m, block: 15m.");
			}
			requireApart(identifiers);
			if (missing instanceof MissingIdentifier.Fallback other) {
				requireApart(List.of(other.identifier()));
			}
			return new Penalty(after, within, block, PolicySettings.or(settings.upTo(), block),
					settings.mode() == Mode.SHADOW);
		});
	}

	/**
	 * Refuses identifiers that many clients have in common: a penalty would block all of
	 * them.
	 * @param identifiers what a policy with a penalty counts by
	 * @throws IllegalArgumentException if one of them does not tell clients apart
	 */
	public static void requireApart(List<String> identifiers) {
		for (String identifier : identifiers) {
			if (!IdentifierNames.tellsClientsApart(identifier)) {
				throw new IllegalArgumentException(
						"Invalid identifier (%s): the penalty would block all clients at once; use identifiers that tell clients apart, such as ip or user."
							.formatted(identifier));
			}
		}
	}

	private Map<String, Plan> readPlans(Policy policy, PolicySettings settings) {
		Map<String, Plan> plans = new LinkedHashMap<>();
		settings.plans().forEach((name, plan) -> {
			String prefix = element(property(policy.name(), ".plans"), name);
			if (plan.limits().isEmpty() && !plan.unlimited()) {
				Set<String> others = new TreeSet<>(settings.plans().keySet());
				others.remove(name);
				throw invalid(prefix, "", "Is an empty plan: give it limits, such as 100/m, or unlimited: true."
						+ NearestNames.question(name, others));
			}
			if (plan.unlimited() && (!plan.limits().isEmpty() || plan.burst() != null)) {
				throw invalid(prefix, plan.limits().isEmpty() ? plan.burst() : plan.limits(),
						"Has %s, but is unlimited as well: remove one of them."
							.formatted(plan.limits().isEmpty() ? "a burst" : "limits"));
			}
			if (plan.unlimited()) {
				plans.put(name, Plan.UNLIMITED);
				return;
			}
			List<Limit> limits = readEach(prefix + ".limits", plan.limits(), Limit::parse);
			Algorithm algorithm = NamedAlgorithms.withBurst(prefix + ".burst", plan.burst(), limits,
					policy.algorithm());
			plans.put(name, read(prefix + ".limits", plan.limits(), () -> new Plan(new Policy(policy.name(), algorithm,
					limits, policy.countDenied(), policy.lease(), policy.penalty()))));
		});
		return plans;
	}

	/** Refuses policies that the store does not support. */
	void requireSupported(ConfiguredPolicies policies, RateLimiter limiter) {
		policies.policies().forEach((name, policy) -> {
			policy.calls()
				.map(IdentifiedPolicy::policy)
				.ifPresent((concurrent) -> require(property(name, ".concurrent"), concurrent.limits().get(0).quota(),
						(quota) -> limiter.requireSupported(concurrent)));
			PolicySettings settings = this.settings.get(name);
			boolean isDefault = settings != null && settings.algorithm() == null;
			Policy all = policy.policy();
			if (all.algorithm().countsCalls()) {
				return;
			}
			require(isDefault ? DEFAULTS + "algorithm" : property(name, ".algorithm"),
					PolicySettings.or(
							(settings == null) ? null : isDefault ? this.defaults.algorithm() : settings.algorithm(),
							all.algorithm().name()),
					(algorithm) -> policy.policies()
						.forEach((each) -> limiter.requireSupported(each.withPenalty(null).withLease(null))));
			if (all.penalty() != null) {
				PenaltySettings penaltySettings = (settings != null) ? settings.penalty() : null;
				require(property(name, ".penalty"),
						(penaltySettings != null) ? SetOptions.part(penaltySettings) : all.penalty(),
						(penalty) -> limiter.requireSupported(all.withLease(null)));
			}
			if (all.lease() != null) {
				require(property(name, ".lease"), all.lease(), (lease) -> limiter.requireSupported(all));
			}
		});
	}

	/** Reads each value of a list. Errors name the list, and the value that is wrong. */
	public static <T> List<T> readEach(String property, List<String> values, Function<String, T> reader) {
		return values.stream().map((value) -> read(property, value, () -> reader.apply(value))).toList();
	}

	private static <T> void require(String property, T value, Consumer<T> rule) {
		read(property, value, () -> {
			rule.accept(value);
			return value;
		});
	}

	public static <T> T read(String property, Object value, Supplier<T> reader) {
		try {
			return reader.get();
		}
		catch (IllegalArgumentException ex) {
			// Without the cause, which Spring Boot takes from 4.1 on only.
			throw invalid(property, value, ex.getMessage());
		}
	}

	private static InvalidConfigurationPropertyValueException invalid(String property, @Nullable Object value,
			@Nullable String rule) {
		return new InvalidConfigurationPropertyValueException(property, value, rule);
	}

	public static String property(String policy, String rest) {
		return element("ratelimit.policies", policy) + rest;
	}

	/** Returns the name of an element of a map. */
	public static String element(String map, String name) {
		return map + (name.matches("[a-z0-9-]+") ? "." + name : "[" + name + "]");
	}

}
