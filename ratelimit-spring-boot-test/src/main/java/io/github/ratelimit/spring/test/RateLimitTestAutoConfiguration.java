package io.github.ratelimit.spring.test;

import io.github.ratelimit.spring.decide.UnknownPolicyHandler;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of beans for tests with limits.
 *
 * @since 0.1
 */
@AutoConfiguration
public final class RateLimitTestAutoConfiguration {

	/** A test fails where production logs an error, unless the application handles it. */
	@Bean
	@ConditionalOnMissingBean
	UnknownPolicyHandler rateLimitUnknownPolicyHandler() {
		return (unknown) -> {
			throw unknown;
		};
	}

}
