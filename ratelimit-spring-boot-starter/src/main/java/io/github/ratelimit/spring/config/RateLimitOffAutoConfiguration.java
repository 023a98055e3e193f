package io.github.ratelimit.spring.config;

import java.time.Duration;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.decide.Decided;
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
 * Auto-configuration that logs that rate limiting is switched off, and refuses properties
 * that would have no effect, because the application was prepared ahead of time. It is
 * always active, because any value of {@code ratelimit.enabled} except true switches the
 * others off.
 *
 * @since 0.1
 */
@AutoConfiguration
public final class RateLimitOffAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitOffAutoConfiguration.class);

	private static final String ENABLED = "ratelimit.enabled";

	/** Comes before all beans, which may lack others if the switch is misspelt. */
	@Bean
	static BeanConditions.Keeper rateLimitBeanConditionsKeeper(Environment environment) {
		String enabled = environment.getProperty(ENABLED, "true");
		if (!enabled.equalsIgnoreCase("true") && !enabled.equalsIgnoreCase("false")) {
			throw new InvalidConfigurationPropertyValueException(ENABLED, enabled, "Must be true or false.");
		}
		return new BeanConditions.Keeper(environment);
	}

	@Bean
	@ConditionalOnBooleanProperty(name = ENABLED, havingValue = false)
	Listener rateLimitOffListener() {
		return new Listener();
	}

	/** Code that asks for a decision need not know that rate limiting is off. */
	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBooleanProperty(name = ENABLED, havingValue = false)
	PolicyLimiter rateLimitUnlimited() {
		return new PolicyLimiter() {

			@Override
			public Acquisition tryAcquire(Use... uses) {
				return Decided.UNLIMITED;
			}

			@Override
			public Acquisition acquire(Duration atMost, Use... uses) {
				return Decided.UNLIMITED;
			}

			@Override
			public Decision peek(Use... uses) {
				return Decided.UNLIMITED.decision();
			}

			@Override
			public boolean reset(String policy, Identifier... identifiers) {
				return true;
			}

		};
	}

	static final class Listener implements ApplicationListener<ApplicationReadyEvent> {

		@Override
		public void onApplicationEvent(ApplicationReadyEvent event) {
			logger.info("Rate limits are off (ratelimit.enabled=false): no policy and no annotation is enforced");
		}

	}

}
