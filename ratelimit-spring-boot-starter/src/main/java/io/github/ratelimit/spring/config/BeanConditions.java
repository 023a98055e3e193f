package io.github.ratelimit.spring.config;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

/**
 * What the properties said on which conditions of this library depend, when the beans
 * were chosen. If the application was prepared ahead of time, that was when it was built:
 * it does not start with properties that say otherwise now, as they would have no effect.
 */
final class BeanConditions {

	/** They are true if they are not set. */
	private static final List<String> SWITCHES = List.of("ratelimit.enabled", "ratelimit.redis.scripting",
			"ratelimit.denial-cache.enabled", "ratelimit.most-denied.enabled");

	private static final Set<String> OFF = Set.of("false", "off", "no", "0");

	BeanConditions(Map<String, Boolean> chosen, Environment environment) {
		current(environment).forEach((property, now) -> {
			if (!now.equals(chosen.get(property))) {
				throw new HiddenValueException(property, environment.getProperty(property, "(not set)"),
						"It decides which beans there are, and said otherwise when the application was prepared ahead of time: build it again with this value, or do not change it.");
			}
		});
	}

	/** Returns what each property says now. */
	static Map<String, Boolean> current(Environment environment) {
		Map<String, Boolean> current = new TreeMap<>();
		for (String name : SWITCHES) {
			current.put(name, !OFF.contains(environment.getProperty(name, "").strip().toLowerCase(Locale.ROOT)));
		}
		return current;
	}

	/** Keeps what the properties say while beans are chosen, also ahead of time. */
	static final class Keeper implements BeanDefinitionRegistryPostProcessor {

		private static final String BEAN = "rateLimitBeanConditions";

		private final Environment environment;

		Keeper(Environment environment) {
			this.environment = environment;
		}

		@Override
		public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
			if (!registry.containsBeanDefinition(BEAN)) {
				registry.registerBeanDefinition(BEAN,
						BeanDefinitionBuilder.rootBeanDefinition(BeanConditions.class)
							.addConstructorArgValue(current(this.environment))
							.addConstructorArgReference(ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME)
							.getBeanDefinition());
			}
		}

		/** Before any other bean. */
		@Override
		public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
			beans.getBean(BEAN);
		}

	}

}
