package io.github.ratelimit.spring.test;

import io.github.ratelimit.spring.web.CostSettlementListener;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.web.servlet.ServletListenerRegistrationBean;
import org.springframework.boot.webmvc.test.autoconfigure.MockMvcBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of beans for tests with limits.
 *
 * @since 0.1
 */
@AutoConfiguration
public final class RateLimitTestAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ MockMvcBuilderCustomizer.class, CostSettlementListener.class })
	static class MockMvcConfiguration {

		@Bean
		MockMvcSettlement rateLimitMockMvcSettlement(
				ObjectProvider<ServletListenerRegistrationBean<CostSettlementListener>> listener) {
			return new MockMvcSettlement(listener);
		}

	}

}
