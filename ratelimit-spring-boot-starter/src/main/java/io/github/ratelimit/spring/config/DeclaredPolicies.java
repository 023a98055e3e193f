package io.github.ratelimit.spring.config;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.policy.PolicyRegistration;
import io.github.ratelimit.spring.policy.PolicyRegistry;
import io.github.ratelimit.spring.policy.RateLimitPoliciesCustomizer;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.OriginLookup;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;

/**
 * The policies that beans declare. Their properties are the last source of the
 * environment, so that files and variables replace each of them.
 */
public final class DeclaredPolicies {

	private static final Logger logger = LoggerFactory.getLogger(DeclaredPolicies.class);

	/** Algorithms and conditions, by what the properties have instead. */
	private final Map<String, Object> objects = new HashMap<>();

	/** The algorithms that are objects, by the name of their policy. */
	private final Map<String, Algorithm> ofPolicies = new HashMap<>();

	/**
	 * Adds the policies of all beans to the environment.
	 * @throws InvalidBeanException if a bean declares a policy that has no valid name or
	 * that another bean has declared
	 */
	DeclaredPolicies(ConfigurableListableBeanFactory beans, ConfigurableEnvironment environment) {
		Map<String, Object> properties = new LinkedHashMap<>();
		Map<String, Origin> origins = new HashMap<>();
		Set<String> replaced = new TreeSet<>();
		Map<String, String> declaring = new HashMap<>();
		for (String bean : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RateLimitPoliciesCustomizer.class,
				true, false)) {
			Origin origin = new BeanOrigin(bean,
					beans.containsBeanDefinition(bean) ? beans.getBeanDefinition(bean).getResourceDescription() : null);
			Registry registry = new Registry(bean, declaring);
			registry.read(beans.getBean(bean, RateLimitPoliciesCustomizer.class)).forEach((name, policy) -> {
				policy.properties().forEach((property, value) -> {
					String full = PolicyRegistration.element("ratelimit.policies", name) + "." + property;
					properties.put(full, value);
					origins.put(full, origin);
				});
				this.objects.putAll(policy.objects());
				if (policy.properties().get("algorithm") instanceof String algorithm) {
					this.ofPolicies.put(name, (Algorithm) Objects.requireNonNull(this.objects.get(algorithm)));
				}
				replaced.addAll(replaced(name, policy, environment));
			});
		}
		if (!properties.isEmpty()) {
			environment.getPropertySources().addLast(new Source(properties, origins));
		}
		if (!replaced.isEmpty()) {
			logger.info("The environment replaces these properties of policies that beans declare: {}",
					String.join(", ", replaced));
		}
	}

	private Set<String> replaced(String name, PolicyRegistration policy, Environment environment) {
		Set<String> options = policy.properties()
			.keySet()
			.stream()
			.map((property) -> property.replaceFirst("[.\\[].*", ""))
			.filter((option) -> !option.equals("plans"))
			.collect(Collectors.toCollection(TreeSet::new));
		Algorithm algorithm = this.ofPolicies.get(name);
		if (algorithm != null) {
			PolicySettings.names()
				.stream()
				.filter((option) -> PolicySettings.option(option).algorithm().equals(algorithm.name()))
				.forEach(options::add);
		}
		String prefix = PolicyRegistration.element("ratelimit.policies", name) + ".";
		options.removeIf((option) -> !isSet(ConfigurationPropertyName.adapt(prefix + option, '.'),
				!policy.properties().containsKey(option), environment));
		return options.stream()
			.map((option) -> "ratelimit.policies.%s.%s".formatted(name, option))
			.collect(Collectors.toSet());
	}

	private static boolean isSet(ConfigurationPropertyName name, boolean needsText, Environment environment) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			ConfigurationProperty property = source.getConfigurationProperty(name);
			if ((property != null && !(needsText && property.getValue().toString().isEmpty()))
					|| source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT) {
				return true;
			}
		}
		return false;
	}

	/** Returns whether a source has what beans declare. */
	static boolean isSource(ConfigurationPropertySource source) {
		return source.getUnderlyingSource() instanceof Source;
	}

	/** Returns an algorithm that a policy has as an object; {@code null} if none. */
	@Nullable Algorithm algorithm(String name) {
		return (this.objects.get(name) instanceof Algorithm algorithm) ? algorithm : null;
	}

	/** Returns the algorithm that a policy has as an object; {@code null} if none. */
	@Nullable Algorithm algorithmOf(String policy) {
		return this.ofPolicies.get(policy);
	}

	/**
	 * Returns a condition that a policy has as an object; {@code null} if it is a text.
	 */
	@SuppressWarnings("unchecked")
	public @Nullable Predicate<HttpServletRequest> condition(String name) {
		return (this.objects.get(name) instanceof Predicate<?> condition) ? (Predicate<HttpServletRequest>) condition
				: null;
	}

	/** The policies of one bean. */
	private static final class Registry implements PolicyRegistry {

		private final Map<String, PolicyRegistration> policies = new LinkedHashMap<>();

		private final String bean;

		/** The bean of each policy of all beans. */
		private final Map<String, String> declaring;

		/** Names the policy that is being declared. */
		private String place = "";

		Registry(String bean, Map<String, String> declaring) {
			this.bean = bean;
			this.declaring = declaring;
		}

		Map<String, PolicyRegistration> read(RateLimitPoliciesCustomizer customizer) {
			try {
				customizer.customize(this);
				this.place = "";
				this.policies.forEach((name, policy) -> {
					if (policy.properties().isEmpty()) {
						throw new IllegalArgumentException(
								"policy '%s': it has no properties, and would be ignored.".formatted(name));
					}
				});
				return this.policies;
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidBeanException(this.bean, RateLimitPoliciesCustomizer.class,
						this.place + ex.getMessage(), "Correct the policies of the bean '%s'.".formatted(this.bean),
						ex);
			}
		}

		@Override
		public PolicyRegistration add(String name) {
			this.place = "";
			Policy.requireName(name);
			if (name.indexOf('[') >= 0 || name.indexOf(']') >= 0) {
				throw new IllegalArgumentException("Invalid policy name (%s): must have no brackets.".formatted(name));
			}
			String other = this.declaring.putIfAbsent(name, this.bean);
			if (other != null) {
				throw new IllegalArgumentException(
						"Invalid policy name (%s): the bean '%s' has already declared a policy of that name."
							.formatted(name, other));
			}
			this.place = "policy '%s': ".formatted(name);
			PolicyRegistration policy = new PolicyRegistration(this.bean + "." + name);
			this.policies.put(name, policy);
			return policy;
		}

	}

	/** The properties of the policies, and which bean declares each of them. */
	private static final class Source extends MapPropertySource implements OriginLookup<String> {

		private final Map<String, Origin> origins;

		Source(Map<String, Object> properties, Map<String, Origin> origins) {
			super("rateLimitDeclaredPolicies", properties);
			this.origins = origins;
		}

		@Override
		public @Nullable Origin getOrigin(String key) {
			return this.origins.get(key);
		}

	}

	private record BeanOrigin(String bean, @Nullable String resource) implements Origin {

		@Override
		public String toString() {
			return "bean '%s'%s".formatted(this.bean, (this.resource != null) ? " defined in " + this.resource : "");
		}

	}

}
