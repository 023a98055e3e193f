package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.converter.Converter;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Exception handlers of the application get denied calls as any other exception. Without
 * one, the limiter answers.
 */
class ExceptionHandlerIT {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	@ParameterizedTest
	@CsvSource({ "/plain, 500, caught by advice", "/wrapped, 500, caught by advice",
			"/local, 500, caught by controller", "/store, 500, caught by advice",
			"/rows?rows=-1, 500, caught by advice" })
	void handlerOfAllExceptionsGetsDenialsToo(String path, int status, String body) {
		assertAnswer(second(applications.get(CatchAll.class), path), status, body);
	}

	/** Spring MVC has an answer of its own to what wraps some of these denials. */
	@ParameterizedTest
	@CsvSource({ "TOMCAT, /wrapped, 429", "TOMCAT, /store, 503", "TOMCAT, /converted?item=1, 429",
			"TOMCAT, /written, 429", "TOMCAT, /gateway, 429", "TOMCAT, /gateway/store, 503", "JETTY, /written, 429",
			"JETTY, /gateway, 429", "JETTY, /store, 503" })
	void limiterAnswersWhateverWrapsTheDenial(Container container, String path, int status) {
		HttpResponse<String> denied = second(applications.get(container, Application.class), path);
		assertThat(denied.statusCode()).isEqualTo(status);
		assertThat(denied.headers().allValues("Retry-After")).hasSize(1);
		assertThat(denied.headers().allValues("Content-Type")).containsExactly("application/problem+json");
	}

	@Test
	void resolverIsAskedOnceAndNegativeCostIsBadRequest() {
		TestApplication application = applications.get(Logging.class);
		HttpResponse<String> refused = application.get("/rows?rows=-1");
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.body()).doesNotContain("#rows");
		assertThat(application.bean(Logging.class).asked).containsExactly("/rows");
	}

	@Test
	void handlerThatThrowsDenialAgainLeavesItToTheLimiter() {
		HttpResponse<String> denied = second(applications.get(Rethrowing.class), "/plain");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.body()).contains("#quota-exceeded");
	}

	@ParameterizedTest
	@CsvSource({ "/plain, named by advice", "/wrapped, replaced", "/rows?rows=-1, expression named by advice",
			"/store, store named by advice" })
	void adviceThatNamesExceptionAnswers(String path, String body) {
		assertAnswer(second(applications.get(Named.class), path), 402, body);
	}

	@ParameterizedTest
	@CsvSource({ "TOMCAT, false", "TOMCAT, true", "JETTY, true" })
	void adviceThatNamesDenialHasResponseWithItsHeaders(Container container, boolean problemDetails) {
		HttpResponse<String> denied = second(applications.get(container, NamedBesideMvc.class,
				"spring.mvc.problemdetails.enabled=" + problemDetails), "/plain");
		assertAnswer(denied, 402, "named by advice");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
		assertThat(denied.headers().allValues("RateLimit")).hasSize(1);
	}

	@Test
	void exceptionHandlerMayReplaceHeaders() {
		HttpResponse<String> denied = second(applications.get(Named.class), "/wrapped");
		assertAnswer(denied, 402, "replaced");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("7");
		assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("none");
		assertThat(denied.headers().allValues("X-Rate-Limit-Limit")).containsExactly("1");
	}

	private static HttpResponse<String> second(TestApplication application, String path) {
		application.get(path);
		return application.get(path);
	}

	private static void assertAnswer(HttpResponse<String> response, int status, String body) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.body()).isEqualTo(body);
	}

	@OpenApplication
	@Import({ Service.class, Calls.class, Local.class, ItemConverter.class })
	static class Application {

	}

	/** Its resolver answers nothing. */
	static class Logging extends Application {

		private final List<String> asked = new CopyOnWriteArrayList<>();

		@Bean
		HandlerExceptionResolver last() {
			return (request, response, handler, ex) -> {
				this.asked.add(request.getRequestURI());
				return null;
			};
		}

	}

	@RestControllerAdvice
	static class Rethrowing extends Application {

		@ExceptionHandler
		String handle(RuntimeException ex) {
			throw ex;
		}

	}

	@Import(MvcAdvice.class)
	static class NamedBesideMvc extends Named {

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

	record Item(String id) {

	}

	record ItemConverter(Service service) implements Converter<String, Item> {

		@Override
		public Item convert(String id) {
			return new Item(this.service.call());
		}

	}

	/** Its value is read while it is written as JSON. */
	static class Lazy {

		private final Service service;

		Lazy(Service service) {
			this.service = service;
		}

		public String getValue() {
			return this.service.call();
		}

	}

	@RestController
	record Calls(Service service) {

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

		@GetMapping("/converted")
		String converted(@RequestParam Item item) {
			return item.id();
		}

		@GetMapping("/written")
		Lazy written() {
			return new Lazy(this.service);
		}

		@GetMapping("/gateway")
		String gateway() {
			return ofGateway(this.service::call);
		}

		@GetMapping("/gateway/store")
		String storeOfGateway() {
			return ofGateway(this::store);
		}

		private static String ofGateway(Supplier<String> call) {
			try {
				return call.get();
			}
			catch (RateLimitExceededException | StoreException ex) {
				throw new ResponseStatusException(HttpStatus.BAD_GATEWAY, "expected by this test", ex);
			}
		}

	}

	@RestController
	record Local(Service service) {

		@GetMapping("/local")
		String local() {
			return this.service.call();
		}

		@ExceptionHandler({ Exception.class, IllegalStateException.class })
		@ResponseStatus(HttpStatus.INTERNAL_SERVER_ERROR)
		String handle(Exception ex) {
			return "caught by controller";
		}

	}

	@RestControllerAdvice
	static class CatchAll extends Application {

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
	static class MvcAdvice extends ResponseEntityExceptionHandler {

	}

	@RestControllerAdvice
	@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
	static class Named extends Application {

		@ExceptionHandler
		String handle(RateLimitExceededException ex) {
			return "named by advice";
		}

		@ExceptionHandler
		ResponseEntity<String> handle(ExecutionException ex) {
			return ResponseEntity.status(402)
				.header("Retry-After", "7")
				.header("x-rate-limit-remaining", "none")
				.body("replaced");
		}

		@ExceptionHandler
		String handle(RateLimitedExpressionException ex) {
			return "expression named by advice";
		}

		@ExceptionHandler
		String handle(StoreException ex) {
			return "store named by advice";
		}

	}

}
