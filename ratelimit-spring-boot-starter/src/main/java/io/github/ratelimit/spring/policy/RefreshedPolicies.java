package io.github.ratelimit.spring.policy;

import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.Enforcement;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.RefreshPoliciesEvent;
import io.github.ratelimit.spring.policy.RateLimitProperties.PolicyProperties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.context.ApplicationListener;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.ReflectionUtils;

/**
 * The policies as last read from the environment. Runs before other sources, which change
 * the policies that are configured now.
 */
public final class RefreshedPolicies implements PolicySource, ApplicationListener<RefreshPoliciesEvent>, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(RefreshedPolicies.class);

	/** Properties of a policy that can change while the application runs. */
	private static final Set<String> REFRESHED = Set.of("limits", "concurrent", "concurrent-lease", "algorithm",
			"count-denied", "mode", "on-store-failure", "count-when", "plans", "penalty", "retain", "zone", "precision",
			"previous-weight", "rounding", "burst", "lease");

	private final RateLimitProperties started;

	private final ConfiguredPolicies startedPolicies;

	private final Environment environment;

	private final NamedAlgorithms algorithms;

	private final RateLimiter limiter;

	private final BooleanSupplier plansAreKnown;

	private volatile Map<String, IdentifiedPolicy> refreshed = Map.of();

	/** The policies that were found to be too large for an annotation. */
	private final Set<IdentifiedPolicy> kept = ConcurrentHashMap.newKeySet();

	/**
	 * Creates a source.
	 * @param started the properties at startup
	 * @param startedPolicies the policies at startup
	 * @param environment the environment to read from
	 * @param algorithms the algorithms by name
	 * @param limiter must support the policies
	 * @param plansAreKnown whether the plans of users can be resolved
	 */
	RefreshedPolicies(RateLimitProperties started, ConfiguredPolicies startedPolicies, Environment environment,
			NamedAlgorithms algorithms, RateLimiter limiter, BooleanSupplier plansAreKnown) {
		this.started = started;
		this.startedPolicies = startedPolicies;
		this.environment = environment;
		this.algorithms = algorithms;
		this.limiter = limiter;
		this.plansAreKnown = plansAreKnown;
	}

	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	@Override
	public IdentifiedPolicy current(IdentifiedPolicy configured, Caller caller) {
		IdentifiedPolicy policy = this.refreshed.get(configured.policy().name());
		if (policy == null) {
			return configured;
		}
		if (policy.identifiers().equals(configured.identifiers())) {
			return policy;
		}
		IdentifiedPolicy own;
		try {
			own = policy.withIdentifiers(configured.identifiers());
		}
		catch (IllegalArgumentException ex) {
			// Now it has too many limits for the identifiers of an annotation.
			if (this.kept.add(configured)) {
				logger.error("The policy '{}' is as it was at the start for the identifiers {} of @RateLimited: {}",
						configured.policy().name(), configured.identifiers(), ex.getMessage());
			}
			return configured;
		}
		return PenaltyReader.areApart(own.identifiers()) ? own : own.withoutPenalty();
	}

	@Override
	public synchronized void onApplicationEvent(RefreshPoliciesEvent event) {
		try {
			RateLimitProperties properties = Binder.get(this.environment)
				.bindOrCreate("ratelimit", Bindable.of(RateLimitProperties.class), new UnresolvedPlaceholders(
						this.environment)
					.apply(new PolicyNames().apply(
							new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter()))));
			PolicyReader reader = new PolicyReader(properties, this.environment);
			ConfiguredPolicies policies = reader.readPolicies(this.algorithms, this.startedPolicies.defaults());
			reader.requireSupported(policies, this.limiter);
			requirePossibleCosts(policies);
			requireFewLimits(policies);
			requirePenaltiesApart(policies);
			refresh(policies);
			Set<String> later = needRestart(properties, policies);
			if (!later.isEmpty()) {
				logger.warn("Changed properties that need a restart: {}", String.join(", ", later));
			}
		}
		catch (InvalidConfigurationPropertyValueException ex) {
			logger.error("The policies stay as they were: {}", reason(ex));
		}
		catch (BindException ex) {
			logger.error("The policies stay as they were: {}", reason(ex));
		}
	}

	/** Checks the costs of the paths, which do not change, as at startup. */
	private void requirePossibleCosts(ConfiguredPolicies policies) {
		policies.policies().forEach((name, policy) -> {
			PolicyProperties properties = this.started.policies().get(name);
			if (properties != null) {
				PolicyReader.read(PolicyReader.property(name, ".limits"), policy.policy().limits(), () -> {
					policy.requirePossible(properties.cost());
					properties.routes().forEach((route) -> policy.requirePossible(route.cost()));
					return policy;
				});
			}
		});
	}

	/** Checks the number of limits with the identifiers, which do not change. */
	private void requireFewLimits(ConfiguredPolicies policies) {
		this.startedPolicies.policies()
			.forEach((name, first) -> policies.find(name)
				.ifPresent((policy) -> PolicyReader.read(PolicyReader.property(name, ".limits"),
						policy.policy().limits(), () -> policy.withIdentifiers(first.identifiers()))));
	}

	/** Checks penalties with the identifiers, which do not change. */
	private void requirePenaltiesApart(ConfiguredPolicies policies) {
		this.startedPolicies.policies().forEach((name, first) -> {
			Penalty penalty = policies.find(name).map((policy) -> policy.policy().penalty()).orElse(null);
			if (penalty != null) {
				PolicyReader.read(PolicyReader.property(name, ".penalty"), penalty, () -> {
					PenaltyReader.requireApart(first.identifiers(), first.enforcement().missing());
					return penalty;
				});
			}
		});
	}

	private void refresh(ConfiguredPolicies policies) {
		Map<String, IdentifiedPolicy> changed = new HashMap<>(this.refreshed);
		this.startedPolicies.policies().forEach((name, first) -> {
			IdentifiedPolicy old = changed.getOrDefault(name, first);
			IdentifiedPolicy read = policies.find(name).orElse(old);
			IdentifiedPolicy policy = hasUnresolvedPlans(first, read) ? old : withWhatNeedsRestart(first, read);
			if (!policy.equals(old)) {
				changed.put(name, policy);
				logger.info("The policy '{}' is now {}; it was {}", name, text(policy), text(old));
			}
		});
		this.refreshed = Map.copyOf(changed);
		this.kept.clear();
	}

	private static IdentifiedPolicy withWhatNeedsRestart(IdentifiedPolicy first, IdentifiedPolicy read) {
		Enforcement enforcement = read.enforcement();
		return read.withIdentifiers(first.identifiers())
			.withEnforcement(new Enforcement(enforcement.mode(), enforcement.onStoreFailure(), enforcement.countWhen(),
					first.enforcement().missing()));
	}

	/** Returns whether the policy has its first plans, but nothing resolves plans. */
	private boolean hasUnresolvedPlans(IdentifiedPolicy first, IdentifiedPolicy policy) {
		return first.plans().isEmpty() && !policy.plans().isEmpty() && !this.plansAreKnown.getAsBoolean();
	}

	private Set<String> needRestart(RateLimitProperties properties, ConfiguredPolicies policies) {
		Set<String> names = new TreeSet<>();
		for (String property : changed(this.started, properties)) {
			names.add("ratelimit." + property);
		}
		names.remove("ratelimit.policies");
		Set<String> all = new TreeSet<>(this.started.policies().keySet());
		all.addAll(properties.policies().keySet());
		for (String name : all) {
			PolicyProperties before = this.started.policies().get(name);
			PolicyProperties now = properties.policies().get(name);
			if (before == null || now == null) {
				names.add(PolicyReader.property(name, ""));
				continue;
			}
			for (String property : changed(before, now)) {
				if (!REFRESHED.contains(property) || (property.equals("plans") && hasUnresolvedPlans(
						this.startedPolicies.find(name).orElseThrow(), policies.find(name).orElseThrow()))) {
					names.add(PolicyReader.property(name, "." + property));
				}
			}
		}
		return names;
	}

	private static <T extends Record> List<String> changed(T before, T now) {
		return Stream.of(before.getClass().getRecordComponents())
			.filter((component) -> !Objects.equals(value(component, before), value(component, now)))
			.map((component) -> DataObjectPropertyName.toDashedForm(component.getName()))
			.toList();
	}

	private static @Nullable Object value(RecordComponent component, Object owner) {
		return ReflectionUtils.invokeMethod(component.getAccessor(), owner);
	}

	private static String text(IdentifiedPolicy policy) {
		Policy concurrent = policy.concurrent();
		return "%s %s, %splans %s, penalty %s, lease %s, %s".formatted(policy.policy().algorithm().name(),
				policy.policy().limits(), (concurrent != null) ? "at once %s, ".formatted(concurrent.limits()) : "",
				policy.plans(), PolicyTable.text(policy.policy().penalty()), PolicyTable.lease(policy.policy().lease()),
				policy.enforcement());
	}

	private static String reason(InvalidConfigurationPropertyValueException ex) {
		return "invalid value '%s' for configuration property '%s'. %s".formatted(ex.getValue(), ex.getName(),
				ex.getReason());
	}

	/** Returns the innermost reason, with the name and value of the property. */
	private static String reason(BindException ex) {
		if (NestedExceptionUtils
			.getMostSpecificCause(ex) instanceof InvalidConfigurationPropertyValueException invalid) {
			return reason(invalid);
		}
		BindException innermost = WrongTypeFailureAnalyzer.innermost(ex);
		ConfigurationProperty property = innermost.getProperty();
		String rule = WrongTypeFailureAnalyzer.rule(innermost);
		String reason = (rule != null) ? "Must be %s.".formatted(rule)
				: NestedExceptionUtils.getMostSpecificCause(ex).getMessage();
		return (property == null) ? ex.getMessage() + ": " + reason
				: "invalid value '%s' for configuration property '%s'. %s"
					.formatted(HiddenValueException.withoutPassword(property.getValue()), property.getName(), reason);
	}

}
