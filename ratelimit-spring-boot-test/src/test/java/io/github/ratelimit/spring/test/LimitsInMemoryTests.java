package io.github.ratelimit.spring.test;

import java.time.Duration;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.ApplicationContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(
		properties = { "ratelimit.policies.greeting.limits=1/m", "ratelimit.policies.greeting.paths=/greeting" })
@AutoConfigureMockMvc
@AutoConfigureRateLimit
class LimitsInMemoryTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private LimitClock clock;

	@Autowired
	private ApplicationContext context;

	@BeforeEach
	void forget() {
		this.clock.advance(Duration.ofMinutes(1));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/greeting", "/farewell" })
	void limitsAreEnforcedByTheClockOfTheTest(String path) {
		assertThat(this.mvc.get().uri(path)).hasStatus(200).hasHeader("X-Rate-Limit-Remaining", "0");
		assertThat(this.mvc.get().uri(path)).hasStatus(429).hasHeader("Retry-After", "60");
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(this.mvc.get().uri(path)).hasStatus(200);
	}

	@Test
	void noRedisIsNeeded() {
		assertThat(this.context.getBean(RateLimiter.class)).isInstanceOf(MemoryRateLimiter.class);
		assertThat(this.context.getBeansOfType(UnifiedJedis.class)).isEmpty();
	}

}
