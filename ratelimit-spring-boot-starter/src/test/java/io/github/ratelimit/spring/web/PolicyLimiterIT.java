package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.IntStream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.PlanResolver;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicyLimiter.Acquisition;
import io.github.ratelimit.spring.RateLimitExceededException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Decisions that handlers ask for by the names of policies.
 */
@StartApplication("""
		ratelimit:
		  allow: "header:X-Friend:yes"
		  policies:
		    mail:
		      limits: 2/m
		      identifiers: user
		      when: "#request.getHeader('X-Free') == null"
		      count-when: status in [401]
		      plans: { gold: { limits: 3/m } }
		    login: { limits: 2/m, identifiers: user, missing-identifier: deny }
		""")
class PolicyLimiterIT {

	@Parameter
	TestApplication application;

	@Test
	void callerOfTheRequestIsCounted() {
		assertThat(get("/mail", 3, "X-User", "anna")).containsExactly("true", "true", "false");
		assertThat(get("/mail", 1, "X-User", "berta")).containsExactly("true");
		assertThat(get("/mail", 3)).as("by address").containsExactly("true", "true", "false");
		assertThat(get("/mail", 3, "X-User", "anna", "X-Free", "yes")).containsOnly("true");
		assertThat(get("/mail", 3, "X-User", "anna", "X-Friend", "yes")).containsOnly("true");
		assertThat(get("/mail", 4, "X-User", "gold")).containsExactly("true", "true", "true", "false");
		assertThat(this.application.get("/mail?policy=login").statusCode()).isEqualTo(403);
	}

	/** All of them answer 200, which count-when would refund. */
	@Test
	void responsesShowNothingOfIt() {
		HttpResponse<String> response = this.application.get("/mail", "X-User", "anna");
		assertThat(response.headers().map()).doesNotContainKeys("ratelimit", "x-rate-limit-limit");
		this.application.assertUsed("mail", Identifier.user("anna"), 1);
	}

	@Test
	void handlerMayAnswerDenialsAsForMethods() {
		assertThat(get("/throw", 2, "X-User", "anna")).containsOnly("sent");
		HttpResponse<String> denied = this.application.get("/throw", "X-User", "anna");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertThat(denied.body()).contains("\"violated-policies\":[\"mail\"]");
	}

	private List<String> get(String path, int times, String... headers) {
		return IntStream.range(0, times).mapToObj((i) -> this.application.get(path, headers).body()).toList();
	}

	@OpenApplication
	@RestController
	static class Application {

		private final PolicyLimiter limiter;

		Application(PolicyLimiter limiter) {
			this.limiter = limiter;
		}

		@GetMapping("/mail")
		boolean mail(@RequestParam(defaultValue = "mail") String policy) {
			return this.limiter.tryAcquire(policy).allowed();
		}

		@GetMapping("/throw")
		String send() {
			Acquisition mail = this.limiter.tryAcquire("mail");
			if (!mail.allowed()) {
				throw new RateLimitExceededException(mail.decision());
			}
			return "sent";
		}

		@Bean
		static PlanResolver plans() {
			return (user, request) -> user.getName();
		}

		@Bean
		static FilterRegistrationBean<HeaderLogin> login() {
			return HeaderLogin.at(Ordered.HIGHEST_PRECEDENCE);
		}

	}

}
