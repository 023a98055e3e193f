package io.github.ratelimit.spring.test;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.test.AutoConfigureRateLimit.Limits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.ApplicationContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(
		properties = { "ratelimit.policies.greeting.limits=1/m", "ratelimit.policies.greeting.paths=/greeting" })
@AutoConfigureMockMvc
@AutoConfigureRateLimit(Limits.OFF)
class LimitsOffTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private ApplicationContext context;

	@ParameterizedTest
	@ValueSource(strings = { "/greeting", "/farewell" })
	void nothingIsLimited(String path) {
		for (int i = 0; i < 3; i++) {
			assertThat(this.mvc.get().uri(path)).hasStatus(200).doesNotContainHeader("X-Rate-Limit-Limit");
		}
	}

	@Test
	void noRedisIsNeeded() {
		assertThat(this.context.getBeansOfType(RateLimiter.class)).isEmpty();
	}

	@Test
	void codeIsNotLimitedEither() {
		PolicyLimiter limiter = this.context.getBean(PolicyLimiter.class);
		assertThat(limiter.tryAcquire("greeting").allowed()).isTrue();
		assertThat(limiter.tryAcquire("greeting").allowed()).isTrue();
		assertThat(this.context.getBean(OutgoingRateLimits.class).interceptor("greeting")).isNotNull();
	}

}
