package io.github.ratelimit.spring.config;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.policy.PolicyRegistration;
import io.github.ratelimit.spring.policy.RateLimitPoliciesCustomizer;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginTrackedValue;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;

/**
 * The policies that beans declare. Their properties are the last source of the
 * environment, so that files and variables replace each of them.
 */
public final class DeclaredPolicies {

	private static final Logger logger = LoggerFactory.getLogger(DeclaredPolicies.class);

	private static final String SOURCE = "rateLimitDeclaredPolicies";

	private static final Pattern PATHS_OF_ROUTE = Pattern.compile(".*\\.routes\\[\\d+]\\.paths");

	/** The conditions that are objects, by what the properties have instead. */
	private final Map<String, Predicate<?>> conditions = new HashMap<>();

	/** The algorithms that are objects, by the name of their policy. */
	private final Map<String, Algorithm> algorithms = new HashMap<>();

	/**
	 * Adds the policies of all beans to the environment.
	 * @throws InvalidBeanException if a bean declares a policy that has no valid name or
	 * that another bean has declared
	 */
	DeclaredPolicies(ConfigurableListableBeanFactory beans, ConfigurableEnvironment environment) {
		Map<String, Object> properties = new LinkedHashMap<>();
		Set<String> replaced = new TreeSet<>();
		Map<String, String> declaring = new HashMap<>();
		for (String bean : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RateLimitPoliciesCustomizer.class,
				true, false)) {
			Origin origin = new BeanOrigin(bean,
					beans.containsBeanDefinition(bean) ? beans.getBeanDefinition(bean).getResourceDescription() : null);
			read(bean, beans.getBean(bean, RateLimitPoliciesCustomizer.class), declaring).forEach((name, policy) -> {
				Map<String, Object> options = new LinkedHashMap<>(policy.options());
				options.replaceAll((option, value) -> withoutObject(option, value, bean, name));
				add(MapKeys.element("ratelimit.policies", name), options, origin, properties);
				replaced.addAll(replaced(name, policy.options().keySet(), environment));
			});
		}
		if (!properties.isEmpty()) {
			environment.getPropertySources().addLast(new OriginTrackedMapPropertySource(SOURCE, properties));
		}
		if (!replaced.isEmpty()) {
			logger.info("The environment replaces these properties of policies that beans declare: {}",
					String.join(", ", replaced));
		}
	}

	/**
	 * Returns the policies of a bean.
	 * @param declaring the bean of each policy of all beans
	 */
	private static Map<String, PolicyRegistration> read(String bean, RateLimitPoliciesCustomizer customizer,
			Map<String, String> declaring) {
		Map<String, PolicyRegistration> policies = new LinkedHashMap<>();
		// Names the policy that is being declared.
		String[] place = { "" };
		try {
			customizer.customize((name) -> {
				place[0] = "";
				requireNew(name, declaring.putIfAbsent(name, bean));
				place[0] = "policy '%s': ".formatted(name);
				PolicyRegistration policy = new PolicyRegistration();
				policies.put(name, policy);
				return policy;
			});
			policies.forEach((name, policy) -> {
				place[0] = "policy '%s': ".formatted(name);
				if (policy.options().values().stream().allMatch(List.of()::equals)) {
					throw new IllegalArgumentException("it has no properties, and would be ignored.");
				}
			});
			return policies;
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidBeanException(bean, RateLimitPoliciesCustomizer.class, place[0] + ex.getMessage(),
					"Correct the policies of the bean '%s'.".formatted(bean), ex);
		}
	}

	private static void requireNew(String name, @Nullable String other) {
		Policy.requireName(name);
		if (name.indexOf('[') >= 0 || name.indexOf(']') >= 0) {
			throw new IllegalArgumentException("Invalid policy name (%s): must have no brackets.".formatted(name));
		}
		if (other != null) {
			throw new IllegalArgumentException(
					"Invalid policy name (%s): the bean '%s' has already declared a policy of that name."
						.formatted(name, other));
		}
	}

	/** Returns a value, or a name for an algorithm or a condition. */
	private Object withoutObject(String option, Object value, String bean, String policy) {
		if (value instanceof Algorithm algorithm) {
			this.algorithms.put(policy, algorithm);
			return algorithm.name();
		}
		if (value instanceof Predicate<?> condition) {
			String name = "@%s.%s.%s".formatted(bean, policy, option);
			this.conditions.put(name, condition);
			return name;
		}
		return value;
	}

	/** Adds the properties of a value: those of a group, or the elements of a list. */
	private static void add(String name, Object value, Origin origin, Map<String, Object> properties) {
		if (value instanceof Map<?, ?> group) {
			group.forEach((key, part) -> add(MapKeys.element(name, key.toString()), part, origin, properties));
		}
		else if (value instanceof List<?> list && !PATHS_OF_ROUTE.matcher(name).matches()) {
			for (int i = 0; i < list.size(); i++) {
				add(name + "[" + i + "]", list.get(i), origin, properties);
			}
		}
		else if (!List.of().equals(value)) {
			// One value: Spring Boot refuses paths[0] of a route that is replaced.
			properties.put(name, OriginTrackedValue.of(value, origin));
		}
	}

	private Set<String> replaced(String policy, Set<String> declared, Environment environment) {
		Algorithm algorithm = this.algorithms.get(policy);
		String prefix = MapKeys.element("ratelimit.policies", policy) + ".";
		return PolicySettings.names()
			.stream()
			.filter((option) -> (declared.contains(option) && !option.equals("plans"))
					|| (algorithm != null && PolicySettings.option(option).algorithm().equals(algorithm.name())))
			.filter((option) -> isSet(ConfigurationPropertyName.adapt(prefix + option, '.'), environment))
			.map((option) -> "ratelimit.policies.%s.%s".formatted(policy, option))
			.collect(Collectors.toSet());
	}

	private static boolean isSet(ConfigurationPropertyName name, Environment environment) {
		return StreamSupport.stream(ConfigurationPropertySources.get(environment).spliterator(), false)
			.flatMap((source) -> EnvironmentSettings.read(name, source).stream())
			.anyMatch((property) -> !property.getValue().toString().isEmpty());
	}

	/** Returns whether a source has what beans declare. */
	static boolean isSource(ConfigurationPropertySource source) {
		return source.getUnderlyingSource() instanceof PropertySource<?> properties
				&& properties.getName().equals(SOURCE);
	}

	/** Returns the algorithm that a policy has as an object; {@code null} if none. */
	@Nullable Algorithm algorithm(String policy) {
		return this.algorithms.get(policy);
	}

	/**
	 * Returns a condition that a policy has as an object; {@code null} if it is a text.
	 */
	@SuppressWarnings("unchecked")
	public @Nullable Predicate<HttpServletRequest> condition(String name) {
		return (Predicate<HttpServletRequest>) this.conditions.get(name);
	}

	private record BeanOrigin(String bean, @Nullable String resource) implements Origin {

		@Override
		public String toString() {
			return "bean '%s'%s".formatted(this.bean, (this.resource != null) ? " defined in " + this.resource : "");
		}

	}

}
