package io.github.ratelimit.spring.policy;

import io.github.ratelimit.spring.PolicyLimiter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration that logs that rate limiting is switched off. It is always active,
 * because any value of {@code ratelimit.enabled} except true switches the others off.
 *
 * @since 0.1
 */
@AutoConfiguration
public final class RateLimitOffAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitOffAutoConfiguration.class);

	private static final String ENABLED = "ratelimit.enabled";

	@Bean
	Listener rateLimitOffListener(Environment environment) {
		String enabled = environment.getProperty(ENABLED, "true");
		if (!enabled.equalsIgnoreCase("true") && !enabled.equalsIgnoreCase("false")) {
			throw new InvalidConfigurationPropertyValueException(ENABLED, enabled, "Must be true or false.");
		}
		return new Listener(enabled.equalsIgnoreCase("false"));
	}

	/** Code that asks for a decision need not know that rate limiting is off. */
	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBooleanProperty(name = ENABLED, havingValue = false)
	PolicyLimiter rateLimitUnlimited() {
		return new Unlimited();
	}

	record Listener(boolean off) implements ApplicationListener<ApplicationReadyEvent> {

		@Override
		public void onApplicationEvent(ApplicationReadyEvent event) {
			if (this.off) {
				logger.info("Rate limits are off (ratelimit.enabled=false): no policy and no annotation is enforced");
			}
		}

	}

}
