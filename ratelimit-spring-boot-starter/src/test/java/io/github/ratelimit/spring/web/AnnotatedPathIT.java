package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.time.Duration;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

/**
 * Methods of a policy that counts the path of the request as well.
 */
@ExtendWith(OutputCaptureExtension.class)
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  api: { paths: /api/**, limits: 5/m }
		  both: { paths: /both/**, limits: 5/m, identifiers: [ip, header:X-User] }
		  counted: { paths: /counted/**, limits: 5/m, count-denied: true }
		""")
class AnnotatedPathIT {

	private static final int QUOTA = 5;

	@Parameter
	TestApplication application;

	/** Once at each start; the output is that of all starts so far. */
	@Test
	void startTellsWhatIsCountedTwice(CapturedOutput output) {
		assertThat(output.getAll()
			.lines()
			.filter((line) -> line.contains("These policies may count a request by its path")))
			.hasSize(1 + this.application.container().ordinal())
			.last(as(STRING))
			.contains("api (AnnotatedPathIT.Controller.heavy)", "api (AnnotatedPathIT.Controller.withFallback)",
					"api (AnnotatedPathIT.Controller.odd)", "counted (", "both (")
			.doesNotContain("repeated", "light");
	}

	@Test
	void pathAndMethodPayEachTheirCost() {
		assertThat(assertStatus("/api/heavy", 200).headers().firstValue("RateLimit")).hasValue("\"api\";r=1;t=60");
		this.application.assertUsed("api", 1 + 3);
	}

	@Test
	void pathStaysPaidWhenTheMethodIsDenied() {
		assertStatus("/api/heavy", 200);
		HttpResponse<String> denied = assertStatus("/api/heavy", 429);
		assertThat(denied.headers().firstValue("Retry-After")).hasValue("60");
		assertThat(denied.headers().firstValue("RateLimit")).hasValue("\"api\";r=0;t=60");
		this.application.assertUsed("api", 4 + 1);
	}

	@Test
	void methodIsNotCalledWhenThePathIsDenied() {
		for (int i = 0; i < QUOTA; i++) {
			assertStatus("/api/light", 200);
		}
		assertStatus("/api/fallback", 429);
		this.application.assertUsed("api", QUOTA);
	}

	@Test
	void deniedMethodCountsWherePolicySaysSo() {
		assertStatus("/counted/light", 200);
		assertStatus("/counted/heavy", 429);
		this.application.assertUsed("counted", 5);
	}

	@Test
	void requestThatIsServedThoughItsMethodIsDeniedPaysForItsPath() {
		assertThat(assertStatus("/api/fallback", 200).body()).isEqualTo("instead");
		this.application.assertUsed("api", 1);
	}

	@Test
	void handlerOfTheApplicationIsToldHowLongToWaitForTheCall() {
		assertStatus("/api/light", 200);
		this.application.advance(Duration.ofSeconds(10));
		HttpResponse<String> handled = assertStatus("/api/handled", 409);
		assertThat(handled.body()).isEqualTo("PT1M");
		this.application.assertUsed("api", 2);
	}

	@Test
	void trueCostIsThatOfPathAndMethodTogether() {
		this.application.get("/both/settled", "X-User", "alice");
		this.application.assertUsed("both", 4);
	}

	@Test
	void everyCallPays() {
		assertStatus("/repeated", 200);
		this.application.assertUsed("api", 4);
		assertStatus("/repeated", 429);
		this.application.assertUsed("api", 5);
	}

	private HttpResponse<String> assertStatus(String path, int status) {
		HttpResponse<String> response = this.application.get(path);
		assertThat(response.statusCode()).isEqualTo(status);
		return response;
	}

	@OpenApplication
	@Import({ Service.class, Controller.class, HandlingController.class })
	static class Application {

	}

	static class Service {

		@RateLimited("api")
		public void cheap() {
		}

	}

	@RestController
	static class Controller {

		private final Service service;

		Controller(Service service) {
			this.service = service;
		}

		@GetMapping("/repeated")
		void repeated() {
			for (int i = 0; i < 4; i++) {
				this.service.cheap();
			}
		}

		@GetMapping({ "/api/light", "/counted/light" })
		String light() {
			return "served";
		}

		@GetMapping("/api/{name:[^%]+}/odd")
		@RateLimited("api")
		String odd() {
			return "served";
		}

		@GetMapping("/api/heavy")
		@RateLimited(policy = "api", cost = 3)
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
