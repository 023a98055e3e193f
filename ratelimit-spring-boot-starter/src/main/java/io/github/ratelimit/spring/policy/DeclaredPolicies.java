package io.github.ratelimit.spring.policy;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.PolicyRegistration;
import io.github.ratelimit.spring.PolicyRegistry;
import io.github.ratelimit.spring.RateLimitPoliciesCustomizer;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.origin.OriginTrackedValue;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/**
 * The policies that beans declare. They become properties of the environment with the
 * lowest precedence, so that they are bound, checked, refreshed and replaced like those
 * of a file. Errors name the bean as the origin of a property.
 */
public final class DeclaredPolicies {

	/** The name of the property source. */
	static final String SOURCE = "rateLimitPolicies";

	private static final Logger logger = LoggerFactory.getLogger(DeclaredPolicies.class);

	private static final String POLICIES = "ratelimit.policies";

	/** Names that need no brackets, as keys of YAML. */
	private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_-]+");

	private final Map<String, String> beans = new HashMap<>();

	private final Map<String, Algorithm> algorithms = new HashMap<>();

	private final Map<String, Predicate<HttpServletRequest>> conditions = new HashMap<>();

	/**
	 * Collects the policies of all beans, and adds them to the environment.
	 * @throws InvalidBeanException if a bean declares a policy that has no valid name or
	 * that another bean has declared
	 */
	DeclaredPolicies(ConfigurableListableBeanFactory beans, ConfigurableEnvironment environment) {
		Map<String, Object> properties = new LinkedHashMap<>();
		for (String bean : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RateLimitPoliciesCustomizer.class,
				true, false)) {
			BeanOrigin origin = new BeanOrigin(bean,
					beans.containsBeanDefinition(bean) ? beans.getBeanDefinition(bean).getResourceDescription() : null);
			declared(bean, beans.getBean(bean, RateLimitPoliciesCustomizer.class)).forEach((name, policy) -> {
				this.algorithms.putAll(policy.algorithms());
				this.conditions.putAll(policy.conditions());
				int before = properties.size();
				add(element(POLICIES, name), policy.properties(), origin, properties);
				if (properties.size() == before) {
					throw invalid(bean, "policy '%s': it has no properties, and would be ignored.".formatted(name),
							null);
				}
			});
		}
		if (!properties.isEmpty()) {
			environment.getPropertySources().addLast(new OriginTrackedMapPropertySource(SOURCE, properties, true));
			logReplaced(properties.keySet(), environment);
		}
	}

	private Map<String, DeclaredPolicy> declared(String bean, RateLimitPoliciesCustomizer customizer) {
		Registry registry = new Registry(bean);
		try {
			customizer.customize(registry);
		}
		catch (IllegalArgumentException ex) {
			throw invalid(bean, registry.last() + ex.getMessage(), ex);
		}
		return registry.policies;
	}

	private static InvalidBeanException invalid(String bean, String reason, @Nullable Throwable cause) {
		return new InvalidBeanException(bean, RateLimitPoliciesCustomizer.class, reason,
				"Correct the policies of the bean '%s'.".formatted(bean), cause);
	}

	/** Adds a property, or all those of a list or a group. */
	private static void add(String name, Object value, BeanOrigin origin, Map<String, Object> properties) {
		if (value instanceof List<?> list) {
			for (int i = 0; i < list.size(); i++) {
				add(name + "[" + i + "]", list.get(i), origin, properties);
			}
		}
		else if (value instanceof Map<?, ?> group) {
			group.forEach((key, element) -> add(element(name, key.toString()), element, origin, properties));
		}
		else {
			properties.put(name, OriginTrackedValue.of(value, origin));
		}
	}

	/** Returns a name that is relaxed as if YAML had it. */
	private static String element(String group, String name) {
		return PLAIN.matcher(name).matches() ? group + "." + name : group + "[" + name + "]";
	}

	/** Returns whether a name can be an element of the name of a property. */
	static boolean canBeProperty(String name) {
		return name.indexOf('[') < 0 && name.indexOf(']') < 0;
	}

	/** Logs which properties have no effect, because other sources have them too. */
	private static void logReplaced(Set<String> properties, ConfigurableEnvironment environment) {
		Set<String> replaced = new TreeSet<>();
		for (String property : properties) {
			String whole = property.replaceFirst("\\[\\d+].*$", "");
			ConfigurationPropertyName name = ConfigurationPropertyName.adapt(whole, '.');
			for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
				boolean own = source.getUnderlyingSource() instanceof PropertySource<?> known
						&& known.getName().equals(SOURCE);
				if (!own && (source.getConfigurationProperty(name) != null
						|| source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT)) {
					replaced.add(whole);
				}
			}
		}
		if (!replaced.isEmpty()) {
			logger.info("The environment replaces these properties of policies that beans declare: {}",
					String.join(", ", replaced));
		}
	}

	/** Returns an algorithm that a policy has as an object; {@code null} if none. */
	@Nullable Algorithm algorithm(String name) {
		return this.algorithms.get(name);
	}

	/**
	 * Returns a condition that a policy has as an object.
	 * @param name the value of {@code when} or {@code unless}
	 * @return the condition; {@code null} if the value is an expression
	 */
	public @Nullable Predicate<HttpServletRequest> condition(String name) {
		return this.conditions.get(name);
	}

	/** The policies of one bean. */
	private final class Registry implements PolicyRegistry {

		private final Map<String, DeclaredPolicy> policies = new LinkedHashMap<>();

		private final String bean;

		private @Nullable String last;

		Registry(String bean) {
			this.bean = bean;
		}

		@Override
		public PolicyRegistration add(String name) {
			this.last = null;
			Policy.requireName(name);
			if (!canBeProperty(name)) {
				throw new IllegalArgumentException("Invalid policy name (%s): must have no brackets.".formatted(name));
			}
			String other = DeclaredPolicies.this.beans.putIfAbsent(name, this.bean);
			if (other != null) {
				throw new IllegalArgumentException(
						"Invalid policy name (%s): the bean '%s' has already declared a policy of that name."
							.formatted(name, other));
			}
			this.last = name;
			DeclaredPolicy policy = new DeclaredPolicy(this.bean, name);
			this.policies.put(name, policy);
			return policy;
		}

		/** Returns the policy that was being declared when an exception was thrown. */
		String last() {
			return (this.last != null) ? "policy '%s': ".formatted(this.last) : "";
		}

	}

}
