package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.converter.Converter;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
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
 * one, and for filters and servlets that call limited methods, the limiter answers.
 */
class ExceptionHandlerIT {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	@ParameterizedTest
	@CsvSource({ "/call/plain, caught by advice", "/call/wrapped, caught by advice", "/local, caught by controller",
			"/call/store, caught by advice", "/call/cost, caught by advice" })
	void handlerOfAllExceptionsGetsDenialsToo(String path, String body) {
		assertAnswer(second(applications.get(CatchAll.class), path), 500, body);
	}

	/** Spring MVC has an answer of its own to what wraps some of these denials. */
	@ParameterizedTest
	@CsvSource({ "/call/wrapped, 429", "/call/store, 503", "/converted?item=1, 429", "/written, 429",
			"/call/gateway, 429", "/call/gateway-store, 503", "/filter/plain, 429", "/servlet/plain, 429",
			"/servlet/wrapped, 429", "/filter/caller, 403", "/filter/store, 503", "/filter/cost, 400",
			"/filter/broken, 500" })
	void limiterAnswersWhateverWrapsTheDenial(String path, int status) {
		for (Container container : Container.values()) {
			HttpResponse<String> denied = second(applications.get(container, Application.class), path);
			assertThat(denied.statusCode()).isEqualTo(status);
			boolean mayTryAgain = status == 429 || status == 503;
			assertThat(denied.headers().allValues("Retry-After")).hasSize(mayTryAgain ? 1 : 0);
			if (mayTryAgain) {
				assertThat(denied.headers().allValues("Content-Type")).containsExactly("application/problem+json");
				assertThat(denied.body()).contains((status == 429) ? "#quota-exceeded" : "#temporary-reduced-capacity");
			}
			if (status == 429) {
				assertThat(denied.headers().allValues("RateLimit")).containsExactly("\"call\";r=0;t=60");
				assertThat(denied.body()).contains("\"violated-policies\":[\"call\"]");
			}
		}
	}

	@Test
	void resolverIsAskedOnceAndNegativeCostIsBadRequest() {
		TestApplication application = applications.get(Logging.class);
		HttpResponse<String> refused = application.get("/call/cost");
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.body()).doesNotContain("#rows");
		assertThat(application.bean(Logging.class).asked).containsExactly("/call/cost");
	}

	@Test
	void handlerThatThrowsDenialAgainLeavesItToTheLimiter() {
		HttpResponse<String> denied = second(applications.get(Rethrowing.class), "/call/plain");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.body()).contains("#quota-exceeded");
	}

	@ParameterizedTest
	@CsvSource({ "plain, named by advice", "wrapped, replaced", "cost, expression named by advice",
			"store, store named by advice" })
	void adviceThatNamesExceptionAnswers(String kind, String body) {
		assertAnswer(second(applications.get(Named.class), "/call/" + kind), 402, body);
	}

	@ParameterizedTest
	@CsvSource({ "TOMCAT, false", "TOMCAT, true", "JETTY, true" })
	void adviceThatNamesDenialHasResponseWithItsHeaders(Container container, boolean problemDetails) {
		HttpResponse<String> denied = second(applications.get(container, NamedBesideMvc.class,
				"spring.mvc.problemdetails.enabled=" + problemDetails), "/call/plain");
		assertAnswer(denied, 402, "named by advice");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
		assertThat(denied.headers().allValues("RateLimit")).hasSize(1);
	}

	@Test
	void exceptionHandlerMayReplaceHeaders() {
		HttpResponse<String> denied = second(applications.get(Named.class), "/call/wrapped");
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
	@Import({ Limited.class, Service.class, Calls.class, Local.class, ItemConverter.class })
	static class Application {

		@Bean
		static FilterRegistrationBean<Filter> calling(Service service) {
			return TestApplication.filterAt(0, (request, response, chain) -> {
				service.make(lastPart((HttpServletRequest) request));
				chain.doFilter(request, response);
			}, "/filter/*");
		}

		@Bean
		static ServletRegistrationBean<HttpServlet> servlet(Service service) {
			return new ServletRegistrationBean<>(new HttpServlet() {

				@Override
				protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException {
					service.make(lastPart(request));
				}

			}, "/servlet/*");
		}

		private static String lastPart(HttpServletRequest request) {
			return request.getRequestURI().replaceFirst(".*/", "");
		}

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

	static class Limited {

		@RateLimited(limits = "1/m", name = "call")
		public String call() {
			return "called";
		}

		@RateLimited(limits = "5/m", costExpression = "#rows")
		public String rows(int rows) {
			return "called";
		}

	}

	/** Calls a limited method, or fails as such a call would. */
	record Service(Limited limited) {

		String make(String kind) throws ServletException {
			try {
				return switch (kind) {
					case "cost" -> this.limited.rows(-1);
					case "store", "gateway-store" ->
						throw new StoreException("expected by this test", new IllegalStateException());
					case "caller" -> throw new CallerDeniedException("expected by this test");
					case "broken" -> throw new IllegalStateException("expected by this test");
					default -> this.limited.call();
				};
			}
			catch (RateLimitExceededException | StoreException ex) {
				if (kind.startsWith("gateway")) {
					throw new ResponseStatusException(HttpStatus.BAD_GATEWAY, "expected by this test", ex);
				}
				if (kind.equals("wrapped")) {
					throw new ServletException(new CompletionException(ex));
				}
				throw ex;
			}
		}

	}

	record Item(String id) {

	}

	record ItemConverter(Limited limited) implements Converter<String, Item> {

		@Override
		public Item convert(String id) {
			return new Item(this.limited.call());
		}

	}

	/** Its value is read while it is written as JSON. */
	static class Lazy {

		private final Limited limited;

		Lazy(Limited limited) {
			this.limited = limited;
		}

		public String getValue() {
			return this.limited.call();
		}

	}

	@RestController
	record Calls(Service service, Limited limited) {

		@GetMapping("/call/{kind}")
		String call(@PathVariable String kind) throws ServletException {
			return this.service.make(kind);
		}

		@GetMapping("/converted")
		String converted(@RequestParam Item item) {
			return item.id();
		}

		@GetMapping("/written")
		Lazy written() {
			return new Lazy(this.limited);
		}

	}

	@RestController
	record Local(Limited limited) {

		@GetMapping("/local")
		String local() {
			return this.limited.call();
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
		ResponseEntity<String> handle(ServletException ex) {
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
