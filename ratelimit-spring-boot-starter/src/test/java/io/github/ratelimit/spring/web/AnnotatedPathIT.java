package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.time.Duration;

import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Methods of a policy that counts the path of the request as well.
 */
class AnnotatedPathIT {

	private static final int QUOTA = 5;

	private static TestApplication application;

	@BeforeAll
	static void start() {
		application = TestApplication.start(Application.class, "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.limits=5/m", "ratelimit.policies.both.paths=/both/**",
				"ratelimit.policies.both.limits=5/m", "ratelimit.policies.both.identifiers=ip,header:X-User",
				"ratelimit.policies.counted.paths=/counted/**", "ratelimit.policies.counted.limits=5/m",
				"ratelimit.policies.counted.count-denied=true", "ratelimit.policies.twice.paths=/twice/**",
				"ratelimit.policies.twice.limits=8/m");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@BeforeEach
	void forget() {
		application.forget();
	}

	@Test
	void requestThatWaitsAsLongAsToldIsServed() {
		assertStatus("/api/light", 200);
		application.advance(Duration.ofSeconds(10));
		HttpResponse<String> denied = assertStatus("/api/heavy", 429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("50");
		assertThat(denied.headers().firstValue("RateLimit")).hasValue("\"api\";r=4;t=50");
		application.assertUsed("api", 1);
		application.advance(Duration.ofSeconds(49));
		assertStatus("/api/heavy", 429);
		application.advance(Duration.ofSeconds(1));
		assertStatus("/api/heavy", 200);
		application.assertUsed("api", 5);
	}

	@Test
	void requestThatIsCountedTwiceByOneIdentifierIsToldWhenBothAreAllowed() {
		assertStatus("/twice/light", 200);
		application.advance(Duration.ofSeconds(5));
		assertStatus("/twice/light", 200);
		application.advance(Duration.ofSeconds(5));
		assertStatus("/twice/heavy", 200);
		application.assertUsed("twice", 6);
		application.advance(Duration.ofSeconds(10));
		HttpResponse<String> denied = assertStatus("/twice/heavy", 429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("45");
		application.assertUsed("twice", 6);
		application.advance(Duration.ofSeconds(44));
		assertStatus("/twice/heavy", 429);
		application.advance(Duration.ofSeconds(1));
		assertStatus("/twice/heavy", 200);
	}

	@Test
	void requestThatCanNeverPayForPathAndCallIsNotToldToWait() {
		assertThat(assertStatus("/twice/never", 429).headers().firstValue("Retry-After")).isEmpty();
		application.assertUsed("twice", 0);
	}

	@Test
	void deniedRequestLeavesNoTraceInItsPolicy() {
		assertStatus("/api/light", 200);
		for (int i = 0; i < 9; i++) {
			assertStatus("/api/heavy", 429);
			application.assertUsed("api", 1);
		}
		for (int i = 0; i < 4; i++) {
			assertStatus("/api/light", 200);
		}
		assertStatus("/api/light", 429);
	}

	@Test
	void deniedRequestCountsWherePolicySaysSo() {
		assertStatus("/counted/light", 200);
		assertStatus("/counted/heavy", 429);
		application.assertUsed("counted", 5);
	}

	@Test
	void requestThatIsServedThoughItsMethodIsDeniedPaysForItsPath() {
		for (int i = 1; i <= QUOTA; i++) {
			assertThat(assertStatus("/api/fallback", 200).body()).isEqualTo((i == 1) ? "served" : "instead");
			if (i == 1) {
				application.advance(Duration.ofSeconds(60));
				assertStatus("/api/light", 200);
			}
			application.assertUsed("api", i);
		}
		assertStatus("/api/fallback", 429);
	}

	@Test
	void callsThatWereServedBeforeTheDeniedOneStayPaid() {
		assertStatus("/api/light", 200);
		assertStatus("/api/later", 429);
		application.assertUsed("api", 3);
	}

	@Test
	void handlerOfTheApplicationIsToldHowLongToWaitWhileItsPathIsPaidFor() {
		assertStatus("/api/light", 200);
		application.advance(Duration.ofSeconds(10));
		HttpResponse<String> handled = assertStatus("/api/handled", 409);
		assertThat(handled.body()).isEqualTo("PT1M");
		application.assertUsed("api", 2);
	}

	@Test
	void trueCostIsSettledOnceForIdentifiersInAnyOrder() {
		application.get("/both/settled", "X-User", "alice");
		application.assertUsed("both", 4);
	}

	@Test
	void callsOfARequestPayTheHighestCostOnceWhereThePathBelongsToThePolicy() {
		assertStatus("/api/repeated", 200);
		application.assertUsed("api", 3);
	}

	@Test
	void everyCallPaysWhereThePathDoesNotBelongToThePolicy() {
		assertStatus("/repeated", 200);
		application.assertUsed("api", 4);
		assertStatus("/repeated", 429);
	}

	private static HttpResponse<String> assertStatus(String path, int status) {
		HttpResponse<String> response = application.get(path);
		assertThat(response.statusCode()).isEqualTo(status);
		return response;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { ServletWebSecurityAutoConfiguration.class, UserDetailsServiceAutoConfiguration.class })
	@Import({ Service.class, Controller.class, HandlingController.class })
	static class Application {

	}

	static class Service {

		@RateLimited("api")
		public void cheap() {
		}

		@RateLimited(policy = "api", cost = 3)
		public void expensive() {
		}

		@RateLimited(policy = "api", cost = 5)
		public void dearest() {
		}

	}

	@RestController
	static class Controller {

		private final Service service;

		Controller(Service service) {
			this.service = service;
		}

		@GetMapping("/api/repeated")
		void mixed() {
			this.service.cheap();
			this.service.expensive();
			this.service.cheap();
			this.service.expensive();
		}

		@GetMapping("/api/later")
		void later() {
			this.service.expensive();
			this.service.dearest();
		}

		@GetMapping("/repeated")
		void repeated() {
			for (int i = 0; i < 4; i++) {
				this.service.cheap();
			}
		}

		@GetMapping("/twice/heavy")
		@RateLimited(policy = "twice", cost = 3, identifiers = { "ip", "path" })
		String twice() {
			return "served";
		}

		@GetMapping("/twice/never")
		@RateLimited(policy = "twice", cost = 8, identifiers = { "ip", "path" })
		String never() {
			return "served";
		}

		@GetMapping({ "/api/light", "/counted/light", "/twice/light" })
		String light() {
			return "served";
		}

		@GetMapping("/api/heavy")
		@RateLimited(policy = "api", cost = 5)
		String heavy() {
			return "served";
		}

		@GetMapping("/counted/heavy")
		@RateLimited(policy = "counted", cost = 5)
		String counted() {
			return "served";
		}

		@GetMapping("/api/fallback")
		@RateLimited(policy = "api", cost = 5, fallbackMethod = "instead")
		String withFallback() {
			return "served";
		}

		private String instead() {
			return "instead";
		}

		@GetMapping("/both/settled")
		@RateLimited(policy = "both", cost = 3, identifiers = { "header:X-User", "ip" })
		String settled(HttpServletRequest request) {
			CostSettlement.of(request).settle("both", 4);
			return "served";
		}

	}

	@RestController
	static class HandlingController {

		@GetMapping("/api/handled")
		@RateLimited(policy = "api", cost = 5)
		public String heavy() {
			return "served";
		}

		@ExceptionHandler
		@ResponseStatus(HttpStatus.CONFLICT)
		String handle(RateLimitExceededException ex) {
			return ex.getDecision().retryAfter().orElseThrow().toString();
		}

	}

}
