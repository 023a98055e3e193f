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
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Exception handlers of the application get denied calls as any other exception. Without
 * one, and for filters that call limited methods, the limiter answers.
 */
class ExceptionHandlerIT {

	@RegisterExtension
	static final TestApplication.Shared applications = new TestApplication.Shared();

	private static final List<String> asked = new CopyOnWriteArrayList<>();

	@ParameterizedTest
	@ValueSource(strings = { "plain", "wrapped", "store", "cost" })
	void handlerOfAllExceptionsGetsDenialsToo(String kind) {
		assertAnswer(second(applications.get(CatchAll.class), "/call/" + kind), 500, "caught by advice");
	}

	/** Spring MVC has an answer of its own to what wraps some of these denials. */
	@ParameterizedTest
	@CsvSource({ "/call/wrapped, 429", "/call/store, 503", "/call/gateway, 429", "/call/gateway-store, 503",
			"/filter/plain, 429", "/filter/wrapped, 429", "/filter/caller, 403", "/filter/store, 503",
			"/filter/cost, 400", "/filter/broken, 500" })
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
		asked.clear();
		HttpResponse<String> refused = applications.get(Application.class).get("/call/cost");
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.body()).doesNotContain("#rows");
		assertThat(asked).containsExactly("/call/cost");
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
		HttpResponse<String> denied = second(applications.get(Named.class), "/call/" + kind);
		assertAnswer(denied, 402, body);
		if (body.equals("replaced")) {
			assertThat(denied.headers().allValues("Retry-After")).containsExactly("7");
			assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("none");
			assertThat(denied.headers().allValues("X-Rate-Limit-Limit")).containsExactly("1");
		}
	}

	@ParameterizedTest
	@CsvSource({ "TOMCAT, false", "JETTY, true" })
	void adviceThatNamesDenialHasResponseWithItsHeaders(Container container, boolean problemDetails) {
		HttpResponse<String> denied = second(applications.get(container, NamedBesideMvc.class,
				"spring.mvc.problemdetails.enabled=" + problemDetails), "/call/plain");
		assertAnswer(denied, 402, "named by advice");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.headers().allValues("X-Rate-Limit-Remaining")).containsExactly("0");
		assertThat(denied.headers().allValues("RateLimit")).hasSize(1);
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
	@Import({ Limited.class, Service.class, Calls.class })
	static class Application {

		/** Answers nothing. */
		@Bean
		static HandlerExceptionResolver last() {
			return (request, response, handler, ex) -> {
				asked.add(request.getRequestURI());
				return null;
			};
		}

		@Bean
		static FilterRegistrationBean<Filter> calling(Service service) {
			return TestApplication.filterAt(0, (request, response, chain) -> {
				service.make(((HttpServletRequest) request).getRequestURI().replaceFirst(".*/", ""));
				chain.doFilter(request, response);
			}, "/filter/*");
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

	@RestController
	record Calls(Service service) {

		@GetMapping("/call/{kind}")
		String call(@PathVariable String kind) throws ServletException {
			return this.service.make(kind);
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
