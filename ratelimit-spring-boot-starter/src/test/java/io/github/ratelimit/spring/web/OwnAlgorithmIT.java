package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Random;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.algorithm.DailyAllowance;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that are counted by an algorithm of the application.
 */
@StartApplication("""
		ratelimit.policies:
		  bean: { paths: /bean, limits: 2/d, algorithm: dailyAllowance }
		  class: { paths: /class, limits: 2/d, algorithm: io.github.ratelimit.spring.algorithm.DailyAllowance }
		""")
class OwnAlgorithmIT {

	@Parameter
	TestApplication application;

	/** The bean's day begins at six o'clock, that of the class at midnight. */
	@ParameterizedTest
	@CsvSource({ "/bean, 6", "/class, 24", "/annotated, 6" })
	void requestsAreLimitedUntilTheDayEnds(String path, int hours) {
		assertThat(this.application.statuses(2, path)).containsOnly(200);
		HttpResponse<String> denied = this.application.get(path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue(String.valueOf(hours * 3600));
		this.application.advance(Duration.ofHours(hours).minusNanos(1000));
		assertThat(this.application.get(path).statusCode()).isEqualTo(429);
		this.application.advance(Duration.ofNanos(1000));
		assertThat(this.application.get(path).statusCode()).isEqualTo(200);
		this.application.advance(Duration.ofHours(24 - hours));
	}

	@Test
	void redisDecidesAsTheStoreInMemory() {
		ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");
		RateLimiter redis = RedisRateLimiter.of(TestRedis.connections(), TestRedis.newKeyPrefix()).withClock(clock);
		RateLimiter memory = new MemoryRateLimiter(clock);
		Random random = new Random(42);
		for (int i = 0; i < 1000; i++) {
			Policy policy = Policy.of("api", new DailyAllowance(7), Limit.parse(1 + random.nextInt(9) + "/d"));
			RateLimitRequest request = RateLimitRequest
				.of(Charge.of(policy, Identifier.GLOBAL).withCost(random.nextInt(5)));
			switch (random.nextInt(6)) {
				case 0 -> {
					redis.refund(request);
					memory.refund(request);
				}
				case 1 -> {
					redis.charge(request);
					memory.charge(request);
				}
				case 2 -> clock.advance(Duration.ofMinutes(random.nextInt(-600, 1200)));
				default -> assertThat(redis.tryAcquire(request)).isEqualTo(memory.tryAcquire(request));
			}
		}
	}

	@OpenApplication
	@RestController
	static class Application {

		/** Static, because policies are made before methods of this class are limited. */
		@Bean
		static Algorithm dailyAllowance() {
			return new DailyAllowance(6);
		}

		@GetMapping({ "/bean", "/class" })
		public String path() {
			return "served";
		}

		@GetMapping("/annotated")
		@RateLimited(limits = "2/d", algorithm = "dailyAllowance")
		public String method() {
			return "served";
		}

	}

}
