package io.github.ratelimit.spring.test;

import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.test.AutoConfigureRateLimit.Limits;

import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

/**
 * Switches the limits of an application off, or enforces them in memory. Customizers with
 * the same setting are equal, so that tests share an application context.
 */
record RateLimitContextCustomizer(Limits limits) implements ContextCustomizer {

	@Override
	public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
		switch (this.limits) {
			case OFF -> TestPropertyValues.of("ratelimit.enabled=false").applyTo(context);
			case IN_MEMORY -> {
				LimitClock clock = new LimitClock();
				BeanDefinitionRegistry registry = (BeanDefinitionRegistry) context.getBeanFactory();
				registry.registerBeanDefinition("rateLimitClock",
						new RootBeanDefinition(LimitClock.class, () -> clock));
				registry.registerBeanDefinition("memoryRateLimiter",
						new RootBeanDefinition(MemoryRateLimiter.class, () -> new MemoryRateLimiter(clock)));
			}
		}
	}

}
