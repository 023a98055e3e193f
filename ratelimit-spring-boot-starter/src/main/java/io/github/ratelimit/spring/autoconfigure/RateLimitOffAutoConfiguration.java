package io.github.ratelimit.spring.autoconfigure;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of nothing, where rate limiting is switched off: says so in the log.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "ratelimit.enabled", havingValue = false)
public final class RateLimitOffAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitOffAutoConfiguration.class);

	@Bean
	Listener rateLimitOffListener() {
		return new Listener();
	}

	static class Listener implements ApplicationListener<ApplicationReadyEvent> {

		@Override
		public void onApplicationEvent(ApplicationReadyEvent event) {
			logger.info("Rate limits are off (ratelimit.enabled=false): no policy and no annotation is enforced");
		}

	}

}
