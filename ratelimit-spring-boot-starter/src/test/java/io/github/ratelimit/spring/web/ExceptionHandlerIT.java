package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who answers a denied call: exception handlers of the application that are made for it,
 * and none that are made for failures.
 */
class ExceptionHandlerIT {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	@ParameterizedTest
	@ValueSource(strings = { "/plain", "/local", "/wrapped" })
	void handlersForFailuresDoNotGetDenials(String path) {
		TestApplication application = applications.get(CatchAll.class);
		assertThat(application.get(path).statusCode()).isEqualTo(200);
		HttpResponse<String> denied = application.get(path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.body()).contains("#quota-exceeded");
		assertThat(application.get("/broken").body()).isEqualTo("caught by advice");
		assertThat(application.get("/broken/local").body()).isEqualTo("caught by controller");
	}

	@Test
	void adviceThatNamesDenialComesFirst() {
		TestApplication application = applications.get(Named.class);
		application.get("/plain");
		assertAnswer(application.get("/plain"), 402, "named by advice");
		application.get("/wrapped");
		assertAnswer(application.get("/wrapped"), 402, "wrapper named by advice");
	}

	@Test
	void adviceThatNamesFailedExpressionComesFirst() {
		TestApplication application = applications.get(Named.class);
		assertThat(application.get("/rows?rows=2").statusCode()).isEqualTo(200);
		assertThat(application.get("/rows?rows=-1").body()).isEqualTo("expression named by advice");
		assertThat(applications.get(CatchAll.class).get("/rows?rows=-1").statusCode()).isEqualTo(400);
	}

	@Test
	void catchAllOfControllerDoesNotHideDenialThatAdviceNames() {
		TestApplication application = applications.get(Named.class);
		application.get("/local");
		assertAnswer(application.get("/local"), 402, "named by advice");
	}

	@ParameterizedTest
	@CsvSource({ "TOMCAT, false", "TOMCAT, true", "JETTY, true" })
	void adviceThatNamesDenialComesFirstWhateverIsBeforeIt(Container container, boolean problemDetails) {
		TestApplication application = applications.get(container, NamedLast.class,
				"spring.mvc.problemdetails.enabled=" + problemDetails);
		application.get("/plain");
		HttpResponse<String> denied = application.get("/plain");
		assertAnswer(denied, 402, "named by advice");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
		assertThat(denied.headers().allValues("RateLimit")).hasSize(1);
		assertThat(application.get("/broken").body()).isEqualTo("caught by first advice");
	}

	@Test
	void exceptionHandlerMayReplaceHeaders() {
		TestApplication application = applications.get(Replacing.class);
		application.get("/plain");
		HttpResponse<String> denied = application.get("/plain");
		assertAnswer(denied, 402, "replaced");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("7");
		assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("none");
		assertThat(denied.headers().allValues("X-Rate-Limit-Limit")).containsExactly("1");
	}

	@Test
	void controllerThatNamesDenialComesFirst() {
		TestApplication application = applications.get(CatchAll.class);
		application.get("/named");
		assertAnswer(application.get("/named"), 402, "named by controller");
	}

	@Test
	void handlerThatNamesFailureOfStoreComesFirst() {
		assertAnswer(applications.get(Named.class).get("/store"), 402, "store named by advice");
		assertThat(applications.get(CatchAll.class).get("/store").statusCode()).isEqualTo(503);
	}

	private static void assertAnswer(HttpResponse<String> response, int status, String body) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.body()).isEqualTo(body);
	}

	@OpenApplication
	@Import({ Service.class, Plain.class, Local.class, NamedByController.class })
	static class Application {

	}

	@Import(CatchAllAdvice.class)
	static class CatchAll extends Application {

	}

	@Import(NamingAdvice.class)
	static class Named extends Application {

	}

	@Import({ FirstAdvice.class, MvcAdvice.class })
	static class NamedLast extends Named {

	}

	@Import({ FirstAdvice.class, ReplacingAdvice.class })
	static class Replacing extends Application {

	}

	static class Service {

		@RateLimited(limits = "1/m")
		public String call() {
			return "called";
		}

		@RateLimited(limits = "5/m", costExpression = "#rows")
		public String rows(int rows) {
			return "called";
		}

	}

	@RestController
	record Plain(Service service) {

		@GetMapping("/plain")
		String plain() {
			return this.service.call();
		}

		@GetMapping("/rows")
		String rows(@RequestParam int rows) {
			return this.service.rows(rows);
		}

		@GetMapping("/wrapped")
		String wrapped() throws ExecutionException {
			try {
				return this.service.call();
			}
			catch (RateLimitExceededException ex) {
				throw new ExecutionException(new CompletionException(ex));
			}
		}

		@GetMapping("/store")
		String store() {
			throw new StoreException("expected by this test", new IllegalStateException());
		}

		@GetMapping("/broken")
		String broken() {
			throw new IllegalStateException("expected by this test");
		}

	}

	@RestController
	record Local(Service service) {

		@GetMapping("/local")
		String local() {
			return this.service.call();
		}

		@GetMapping("/broken/local")
		String broken() {
			throw new IllegalStateException("expected by this test");
		}

		@ExceptionHandler({ Exception.class, IllegalStateException.class })
		@ResponseStatus(HttpStatus.INTERNAL_SERVER_ERROR)
		String handle(Exception ex) {
			return "caught by controller";
		}

	}

	@RestController
	record NamedByController(Service service) {

		@GetMapping("/named")
		String named() {
			return this.service.call();
		}

		@ExceptionHandler
		@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
		String handle(RateLimitExceededException ex) {
			return "named by controller";
		}

	}

	@RestControllerAdvice
	static class CatchAllAdvice {

		@ExceptionHandler
		ResponseEntity<String> handleFailure(RuntimeException ex) {
			return ResponseEntity.internalServerError().body("caught by advice");
		}

		@ExceptionHandler(Throwable.class)
		ResponseEntity<String> handleAll() {
			return ResponseEntity.internalServerError().body("caught by advice");
		}

	}

	@RestControllerAdvice
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static class FirstAdvice {

		@ExceptionHandler(Exception.class)
		ResponseEntity<String> handleAll() {
			return ResponseEntity.internalServerError().body("caught by first advice");
		}

	}

	@RestControllerAdvice
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static class MvcAdvice extends ResponseEntityExceptionHandler {

	}

	@RestControllerAdvice
	static class ReplacingAdvice {

		@ExceptionHandler
		ResponseEntity<String> handle(RateLimitExceededException ex, HttpServletRequest request) {
			return ResponseEntity.status(402)
				.header("Retry-After", "7")
				.header("x-rate-limit-remaining", "none")
				.body("replaced");
		}

	}

	@RestControllerAdvice
	static class NamingAdvice {

		@ExceptionHandler(RateLimitExceededException.class)
		@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
		String handle() {
			return "named by advice";
		}

		@ExceptionHandler(ExecutionException.class)
		@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
		String handleWrapper() {
			return "wrapper named by advice";
		}

		@ExceptionHandler(RateLimitedExpressionException.class)
		@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
		String handleExpression() {
			return "expression named by advice";
		}

		@ExceptionHandler(StoreException.class)
		@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
		String handleStore() {
			return "store named by advice";
		}

		@ExceptionHandler(Exception.class)
		ResponseEntity<String> handleFailure() {
			return ResponseEntity.internalServerError().body("caught by advice");
		}

	}

}
