package io.github.ratelimit.spring.config;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.RefreshPoliciesEvent;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.apache.commons.logging.LogFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.ApplicationListener;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/**
 * The policies as last read from the environment. Runs before other sources, which change
 * the policies that are configured now.
 */
public final class RefreshedPolicies implements Decider.ReadSource, ApplicationListener<RefreshPoliciesEvent>, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(RefreshedPolicies.class);

	private final RateLimitProperties started;

	private final ConfiguredPolicies startedPolicies;

	private final Environment environment;

	private final ListableBeanFactory beans;

	private final NamedAlgorithms algorithms;

	private final RateLimiter limiter;

	private final BooleanSupplier plansAreKnown;

	/** The options of the policies as last read, by the name of the policy. */
	private Map<String, Map<String, Object>> options = new HashMap<>();

	private volatile Map<String, IdentifiedPolicy> refreshed = Map.of();

	/** The policies that were found to be too large for an annotation. */
	private final Set<IdentifiedPolicy> kept = ConcurrentHashMap.newKeySet();

	RefreshedPolicies(RateLimitProperties started, ConfiguredPolicies startedPolicies, Environment environment,
			ListableBeanFactory beans, NamedAlgorithms algorithms, RateLimiter limiter, BooleanSupplier plansAreKnown) {
		this.started = started;
		this.startedPolicies = startedPolicies;
		this.environment = environment;
		this.beans = beans;
		this.algorithms = algorithms;
		this.limiter = limiter;
		this.plansAreKnown = plansAreKnown;
		started.policies().forEach((name, settings) -> this.options.put(name, SetOptions.of(settings)));
	}

	/** Returns the policies as they are now, unless another source changes them. */
	List<IdentifiedPolicy> policies() {
		return this.startedPolicies.policies()
			.entrySet()
			.stream()
			.map((policy) -> this.refreshed.getOrDefault(policy.getKey(), policy.getValue()))
			.toList();
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
		return IdentifierNames.tellClientsApart(own.identifiers()) ? own : own.withoutPenalty();
	}

	@Override
	public synchronized void onApplicationEvent(RefreshPoliciesEvent event) {
		try {
			RateLimitProperties properties = bind();
			requireValid(properties);
			Set<String> later = needRestart(properties);
			Map<String, PolicySettings> settings = new LinkedHashMap<>();
			this.started.policies().forEach((name, before) -> {
				PolicySettings now = properties.policies().get(name);
				if (now != null) {
					settings.put(name, refreshed(name, SetOptions.of(before), SetOptions.of(now), later));
				}
			});
			PolicyReader reader = new PolicyReader(settings, this.started.defaults());
			ConfiguredPolicies policies = reader.readPolicies(this.algorithms, this.startedPolicies.defaults());
			reader.requireSupported(policies, this.limiter);
			refresh(policies, settings);
			if (!later.isEmpty()) {
				logger.warn("Changed properties that need a restart: {}", String.join(", ", later));
			}
		}
		catch (InvalidConfigurationPropertyValueException | BindException ex) {
			logger.error("The policies stay as they were: {}", reason(ex));
		}
	}

	/** Binds the properties as Spring Boot does at the start. */
	private RateLimitProperties bind() {
		BindHandler handler = new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter());
		for (ConfigurationPropertiesBindHandlerAdvisor advisor : this.beans
			.getBeanProvider(ConfigurationPropertiesBindHandlerAdvisor.class)
			.orderedStream()
			.toList()) {
			handler = advisor.apply(handler);
		}
		return Binder.get(this.environment).bindOrCreate("ratelimit", Bindable.of(RateLimitProperties.class), handler);
	}

	/** Refuses what the next start would refuse, also where it has no effect yet. */
	private void requireValid(RateLimitProperties properties) {
		PolicyReader reader = new PolicyReader(properties.policies(), properties.defaults());
		reader.requireSupported(reader.readPolicies(this.algorithms, reader.readDefaults(this.algorithms)),
				this.limiter);
	}

	/** Returns changed properties, and policies that are new or missing. */
	private Set<String> needRestart(RateLimitProperties properties) {
		Set<String> names = new TreeSet<>();
		SetOptions.differences(SetOptions.of(this.started), SetOptions.of(properties))
			.forEach((property) -> names.add("ratelimit." + property));
		names.remove("ratelimit.policies");
		Stream.of(this.started, properties)
			.flatMap((all) -> all.policies().keySet().stream())
			.filter((name) -> !this.started.policies().containsKey(name) || !properties.policies().containsKey(name))
			.forEach((name) -> names.add(PolicyReader.property(name, "")));
		return names;
	}

	/**
	 * Returns the settings of a policy as they are now, except for those that need a
	 * restart.
	 * @param later receives the properties that have changed, but need a restart
	 */
	private PolicySettings refreshed(String name, Map<String, Object> before, Map<String, Object> now,
			Set<String> later) {
		Map<String, Object> options = new LinkedHashMap<>(now);
		for (String option : SetOptions.differences(before, now)) {
			boolean isFirstPlan = option.equals("plans") && !before.containsKey(option);
			if (PolicySettings.option(option).restart() || (isFirstPlan && !this.plansAreKnown.getAsBoolean())) {
				later.add(PolicyReader.property(name, "." + option));
				options.remove(option);
				if (before.containsKey(option)) {
					options.put(option, before.get(option));
				}
			}
		}
		return SetOptions.toPolicy(options);
	}

	private void refresh(ConfiguredPolicies policies, Map<String, PolicySettings> settings) {
		Map<String, IdentifiedPolicy> changed = new HashMap<>(this.refreshed);
		settings.forEach((name, now) -> {
			Map<String, Object> options = SetOptions.of(now);
			Map<String, Object> old = Objects.requireNonNull(this.options.put(name, options));
			Set<String> different = SetOptions.differences(old, options);
			if (!different.isEmpty()) {
				IdentifiedPolicy policy = policies.find(name).orElseThrow();
				changed.put(name, policy);
				logger.info("The policy '{}' has changed: {}", name,
						different.stream()
							.map((option) -> "%s is %s, was %s".formatted(option, SetOptions.part(options.get(option)),
									SetOptions.part(old.get(option))))
							.toList());
				if (different.contains("reset")) {
					PolicyTable.warnOfReset(policy);
				}
			}
		});
		this.refreshed = Map.copyOf(changed);
		this.kept.clear();
	}

	/**
	 * Returns what would be said at the start; of a refusal that the library does not
	 * know, such as that of a validator, the innermost cause.
	 */
	private String reason(RuntimeException ex) {
		return SpringFactoriesLoader.forDefaultResourceLocation(getClass().getClassLoader())
			.load(FailureAnalyzer.class,
					ArgumentResolver.of(Environment.class, this.environment).and(BeanFactory.class, this.beans),
					FailureHandler.logging(LogFactory.getLog(getClass())))
			.stream()
			.filter((analyzer) -> analyzer.getClass().getPackageName().startsWith(getClass().getPackageName()))
			.map((analyzer) -> analyzer.analyze(ex))
			.filter(Objects::nonNull)
			.findFirst()
			.map(FailureAnalysis::getDescription)
			.orElseGet(() -> NestedExceptionUtils.getMostSpecificCause(ex).toString())
			.replaceAll("\\s+", " ");
	}

}
