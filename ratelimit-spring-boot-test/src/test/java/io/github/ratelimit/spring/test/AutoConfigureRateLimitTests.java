package io.github.ratelimit.spring.test;

import java.time.Duration;
import java.time.Instant;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.decide.UnknownPolicyHandler;
import io.github.ratelimit.spring.test.AutoConfigureRateLimit.Limits;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

class AutoConfigureRateLimitTests {

	private static final String LIMITS = "ratelimit.policies.greeting.limits=1/m";

	private static final String PATHS = "ratelimit.policies.greeting.paths=/greeting";

	@Nested
	@SpringBootTest(properties = { LIMITS, PATHS, "ratelimit.policies.login.limits=2/15m",
			"ratelimit.policies.login.paths=/login", "ratelimit.policies.login.count-when=status in [401]",
			"ratelimit.policies.tokens.limits=100/m", "ratelimit.policies.tokens.paths=/tokens",
			"ratelimit.policies.tokens.cost=10" })
	@AutoConfigureMockMvc
	@AutoConfigureRateLimit
	class InMemory {

		@Autowired
		private MockMvcTester mvc;

		@Autowired
		private LimitClock clock;

		@BeforeEach
		void forget() {
			this.clock.advance(Duration.ofHours(1));
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
		void codeThatWaitsAdvancesTheClock(@Autowired PolicyLimiter limiter) throws InterruptedException {
			Instant start = this.clock.instant();
			Identifier client = Identifier.ip("203.0.113.7");
			assertThat(limiter.acquire("greeting", client, Duration.ofDays(1)).allowed()).isTrue();
			assertThat(limiter.acquire("greeting", client, Duration.ofSeconds(59)).allowed()).isFalse();
			assertThat(this.clock.instant()).isEqualTo(start);
			assertThat(limiter.acquire("greeting", client, Duration.ofMinutes(1)).allowed()).isTrue();
			assertThat(this.clock.instant()).isEqualTo(start.plusSeconds(60));
		}

		@Test
		void noRedisIsNeeded(@Autowired ApplicationContext context) {
			assertThat(context.getBean(RateLimiter.class)).isInstanceOf(MemoryRateLimiter.class);
			assertThat(context.getBeansOfType(UnifiedJedis.class)).isEmpty();
		}

		@Test
		void onlyFailedLoginsCount() {
			for (int i = 0; i < 5; i++) {
				assertThat(this.mvc.post().uri("/login?password=secret")).hasStatus(200);
			}
			assertThat(this.mvc.post().uri("/login?password=guess")).hasStatus(401);
			assertThat(this.mvc.post().uri("/login?password=guess")).hasStatus(401);
			assertThat(this.mvc.post().uri("/login?password=secret")).hasStatus(429);
		}

		@Test
		void trueCostIsSettledAfterAsynchronousDispatch() {
			for (String remaining : new String[] { "90", "30", "0" }) {
				assertThat(this.mvc.get().uri("/tokens?tokens=60")).hasHeader("X-Rate-Limit-Remaining", remaining);
			}
		}

		@Test
		void testFailsWhenCodeSettlesCostOfUnknownPolicy() {
			assertThat(this.mvc.get().uri("/misspelt")).hasFailed()
				.failure()
				.rootCause()
				.isInstanceOf(IllegalArgumentException.class)
				.hasMessage(
						"Invalid policy (token): must be one of [GreetingController.leave, greeting, login, tokens]."
								+ " Did you mean 'tokens'?");
		}

	}

	@Nested
	@WebMvcTest(properties = { LIMITS, PATHS })
	@AutoConfigureRateLimit
	@Import(Unknown.class)
	class InSlice {

		@Autowired
		private MockMvcTester mvc;

		@ParameterizedTest
		@ValueSource(strings = { "/greeting", "/farewell" })
		void limitsAreEnforcedInPartOfApplication(String path) {
			assertThat(this.mvc.get().uri(path)).hasStatus(200);
			assertThat(this.mvc.get().uri(path)).hasStatus(429);
		}

		@Test
		void handlerOfUnknownPoliciesOfTheApplicationIsUsed() {
			assertThat(this.mvc.get().uri("/misspelt")).hasFailed()
				.failure()
				.rootCause()
				.isInstanceOf(UnsupportedOperationException.class);
		}

	}

	@Nested
	@SpringBootTest(properties = { LIMITS, PATHS })
	@AutoConfigureMockMvc
	@AutoConfigureRateLimit(Limits.OFF)
	class Off {

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
		void codeIsNotLimitedEitherAndNoRedisIsNeeded() throws InterruptedException {
			assertThat(this.context.getBeansOfType(RateLimiter.class)).isEmpty();
			PolicyLimiter limiter = this.context.getBean(PolicyLimiter.class);
			assertThat(limiter.tryAcquire("greeting").allowed()).isTrue();
			assertThat(limiter.tryAcquire("greeting").allowed()).isTrue();
			assertThat(limiter.acquire("greeting", Identifier.GLOBAL, Duration.ofDays(1)).allowed()).isTrue();
			assertThat(this.context.getBean(OutgoingRateLimits.class).interceptor("greeting")).isNotNull();
		}

	}

	static class Unknown {

		@Bean
		UnknownPolicyHandler ownUnknownPolicyHandler() {
			return (unknown) -> {
				throw new UnsupportedOperationException("expected by this test");
			};
		}

	}

}
