package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.http.HttpResponse;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;

import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A request is charged once for each policy, however it is dispatched, and denied calls
 * of methods are answered as denied paths are.
 */
class RateLimitDispatchIT {

	private static TestApplication application;

	@BeforeAll
	static void start() {
		application = TestApplication.start(Application.class, "ratelimit.policies.path.paths=/path/**",
				"ratelimit.policies.path.limits=2/m", "ratelimit.policies.other.limits=4/m",
				"ratelimit.policies.same.paths=/same", "ratelimit.policies.same.limits=2/m",
				"ratelimit.policies.dear.paths=/dear,/dear/*", "ratelimit.policies.dear.limits=10/m",
				"ratelimit.policies.dear.cost=2");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@BeforeEach
	void forget() {
		application.forget();
	}

	@ParameterizedTest
	@CsvSource({ "/path/plain, 200", "/path/callable, 200", "/path/deferred, 200", "/path/forward, 200",
			"/path/error, 500", "/path/send-error, 418", "/path/missing, 404" })
	void requestIsChargedOnceHoweverItIsDispatched(String path, int status) {
		HttpResponse<String> first = application.get(path);
		assertThat(first.statusCode()).isEqualTo(status);
		assertThat(first.headers().firstValue("X-Rate-Limit-Remaining")).hasValue("1");
		assertThat(application.decisions()).isEqualTo(1);
		assertThat(application.get(path).headers().firstValue("X-Rate-Limit-Remaining")).hasValue("0");
		assertThat(application.get(path).statusCode()).isEqualTo(429);
		assertThat(application.decisions()).isEqualTo(3);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/service", "/service/callable", "/service/writer", "/service/wrapped" })
	void callOfServiceIsAnsweredCompletelyWhenItIsDenied(String path) {
		HttpResponse<String> allowed = application.get(path);
		assertThat(allowed.statusCode()).isEqualTo(200);
		HttpResponse<String> denied = application.get(path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.headers().allValues("Cache-Control")).containsExactly("no-store");
		assertThat(denied.headers().firstValue("Content-Type"))
			.hasValueSatisfying((type) -> assertThat(type).startsWith("application/problem+json"));
		assertThat(denied.headers().allValues("RateLimit-Policy")).containsExactly("\"Service.call\";q=1;w=60");
		assertThat(denied.headers().allValues("RateLimit")).containsExactly("\"Service.call\";r=0;t=60");
		assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
		assertThat(JsonMapper.shared().readTree(denied.body()).path("violated-policies"))
			.hasToString("[\"Service.call\"]");
	}

	@Test
	void policyOfPathAndAnnotationIsChargedOnceWhenItIsTheSame() {
		HttpResponse<String> first = application.get("/same");
		assertThat(first.headers().allValues("RateLimit")).containsExactly("\"same\";r=1;t=60");
		assertThat(application.get("/same").statusCode()).isEqualTo(200);
		assertThat(application.get("/same").statusCode()).isEqualTo(429);
	}

	@Test
	void annotationPaysDifferenceWhenItCostsMoreThanPath() {
		assertThat(application.get("/dear/5").headers().allValues("RateLimit")).containsExactly("\"dear\";r=5;t=60");
		assertThat(application.get("/dear/5").headers().allValues("RateLimit")).containsExactly("\"dear\";r=0;t=60");
		assertThat(application.get("/dear").statusCode()).isEqualTo(429);
	}

	@Test
	void annotationIsDeniedWhenDifferenceIsTooMuch() {
		for (int i = 0; i < 3; i++) {
			assertThat(application.get("/dear").statusCode()).isEqualTo(200);
		}
		HttpResponse<String> denied = application.get("/dear/5");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("RateLimit")).containsExactly("\"dear\";r=2;t=60");
	}

	@Test
	void annotationPaysNothingWhenItCostsLessThanPath() {
		assertThat(application.get("/dear/1").headers().allValues("RateLimit")).containsExactly("\"dear\";r=8;t=60");
		assertThat(application.decisions()).isEqualTo(1);
	}

	@Test
	void annotationPaysInFullWhenItHasOtherIdentifiers() {
		HttpResponse<String> first = application.get("/dear/other", "X-User", "anna");
		assertThat(first.headers().allValues("RateLimit")).containsExactly("\"dear\";r=6;t=60");
		assertThat(application.decisions()).isEqualTo(2);
		assertThat(application.get("/dear/other", "X-User", "anna").statusCode()).isEqualTo(200);
		assertThat(application.get("/dear/other", "X-User", "anna").statusCode()).isEqualTo(429);
		assertThat(application.get("/dear/other", "X-User", "berta").statusCode()).isEqualTo(200);
	}

	@Test
	void secondCallPaysAgainWhenPathHasNotPaidForIt() {
		assertThat(application.get("/service/twice").statusCode()).isEqualTo(429);
	}

	@Test
	void policiesOfPathAndAnnotationAreChargedEachWhenTheyDiffer() {
		HttpResponse<String> first = application.get("/path/annotated");
		assertThat(first.headers().allValues("RateLimit")).containsExactly("\"path\";r=1;t=60, \"other\";r=3;t=60");
		assertThat(first.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("1");
	}

	@Test
	void handlerOfApplicationAnswersDeniedCall() {
		assertThat(application.get("/handled").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = application.get("/handled");
		assertThat(denied.statusCode()).isEqualTo(503);
		assertThat(denied.body()).isEqualTo("Rate limit exceeded: HandlingController.handled (1/m)");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { ServletWebSecurityAutoConfiguration.class, UserDetailsServiceAutoConfiguration.class })
	@Import({ Service.class, PathController.class, ServiceController.class, HandlingController.class })
	static class Application {

	}

	static class Service {

		@RateLimited(limits = "1/m")
		public String call() {
			return "called";
		}

	}

	@Controller
	static class PathController {

		@GetMapping("/path/plain")
		@ResponseBody
		String plain() {
			return "served";
		}

		@GetMapping("/path/callable")
		@ResponseBody
		Callable<String> callable() {
			return () -> "served";
		}

		@GetMapping("/path/deferred")
		@ResponseBody
		DeferredResult<String> deferred() {
			DeferredResult<String> result = new DeferredResult<>();
			new Thread(() -> result.setResult("served")).start();
			return result;
		}

		@GetMapping("/path/forward")
		String forward() {
			return "forward:/path/plain";
		}

		@GetMapping("/path/error")
		String error() {
			throw new IllegalStateException("expected by this test");
		}

		@GetMapping("/path/send-error")
		void sendError(HttpServletResponse response) throws IOException {
			response.sendError(418);
		}

		@GetMapping("/path/annotated")
		@ResponseBody
		@RateLimited("other")
		public String annotated() {
			return "served";
		}

		@GetMapping("/dear")
		@ResponseBody
		String dear() {
			return "served";
		}

		@GetMapping("/dear/5")
		@ResponseBody
		@RateLimited(policy = "dear", cost = 5)
		String dearer() {
			return "served";
		}

		@GetMapping("/dear/1")
		@ResponseBody
		@RateLimited(policy = "dear", cost = 1)
		String cheaper() {
			return "served";
		}

		@GetMapping("/dear/other")
		@ResponseBody
		@RateLimited(policy = "dear", cost = 4, identifiers = "header:X-User")
		String other() {
			return "served";
		}

		@GetMapping("/same")
		@ResponseBody
		@RateLimited("same")
		public String same() {
			return "served";
		}

	}

	@RestController
	static class ServiceController {

		private final Service service;

		ServiceController(Service service) {
			this.service = service;
		}

		@GetMapping("/service")
		String service() {
			return this.service.call();
		}

		@GetMapping("/service/callable")
		Callable<String> callable() {
			return this.service::call;
		}

		@GetMapping("/service/wrapped")
		String wrapped() {
			try {
				return this.service.call();
			}
			catch (RateLimitExceededException ex) {
				throw new IllegalStateException(new CompletionException(ex));
			}
		}

		@GetMapping("/service/twice")
		String twice() {
			return this.service.call() + this.service.call();
		}

		@GetMapping("/service/writer")
		void writer(PrintWriter writer) {
			writer.print("begun");
			this.service.call();
		}

	}

	@RestController
	static class HandlingController {

		@GetMapping("/handled")
		@RateLimited(limits = "1/m")
		public String handled() {
			return "served";
		}

		@ExceptionHandler
		@ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
		public String handle(RateLimitExceededException ex) {
			return ex.getMessage();
		}

	}

}
