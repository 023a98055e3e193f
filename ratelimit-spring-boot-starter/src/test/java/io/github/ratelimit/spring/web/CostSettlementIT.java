package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What requests cost in the end, on a real Tomcat.
 */
class CostSettlementIT {

	private static TestApplication application;

	@BeforeAll
	static void start() {
		application = TestApplication.start(Application.class, "ratelimit.policies.login.paths=/login/**",
				"ratelimit.policies.login.limits=100/h", "ratelimit.policies.login.count-when=status in [401, 5xx]",
				"ratelimit.policies.tokens.paths=/tokens/**", "ratelimit.policies.tokens.limits=100/h",
				"ratelimit.policies.tokens.cost=10", "ratelimit.policies.method.limits=100/h",
				"ratelimit.policies.method.count-when=status in [401]", "spring.mvc.async.request-timeout=300ms");
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
	@CsvSource({ "/login/status/200, 0", "/login/status/401, 1", "/login/status/403, 0", "/login/error/401, 1",
			"/login/error/403, 0", "/login/throw, 1", "/login/callable/200, 0", "/login/callable/401, 1",
			"/login/callable-throw, 1", "/login/time-out, 1", "/login/unknown, 0", "/login/stream, 0" })
	void onlyResponsesOfTheStatusCount(String path, int used) {
		application.get(path);
		application.assertUsed("login", used);
	}

	@ParameterizedTest
	@CsvSource({ "/method/200, 0", "/method/401, 1", "/method/403, 0" })
	void onlyResponsesOfTheStatusCountForMethods(String path, int used) {
		application.get(path);
		application.assertUsed("method", used);
	}

	@ParameterizedTest
	@CsvSource({ "/tokens/none, 10", "/tokens/3, 3", "/tokens/10, 10", "/tokens/25, 25", "/tokens/0, 0",
			"/tokens/1000, 100", "/tokens/twice, 7", "/tokens/callable, 4", "/tokens/throw, 6", "/tokens/time-out, 8" })
	void trueCostIsSettledWhenTheRequestIsOver(String path, int used) {
		application.get(path);
		application.assertUsed("tokens", used);
	}

	@Test
	void costOfPolicyThatDoesNotCountTheRequestIsNotSettled() {
		assertThat(application.get("/free").body()).isEqualTo("false");
	}

	/**
	 * Many, because Tomcat forgets about one of ten such requests without an event; at
	 * once fewer than Spring has threads for them.
	 */
	@RepeatedTest(12)
	void costsCountWhenClientsGoAway() throws Exception {
		Application.aborted = new CountDownLatch(5);
		List<Socket> clients = new ArrayList<>();
		try {
			for (int i = 0; i < 5; i++) {
				Socket client = new Socket("127.0.0.1", application.port());
				clients.add(client);
				client.getOutputStream()
					.write("GET /tokens/endless HTTP/1.1\r\nHost: localhost\r\n\r\n"
						.getBytes(StandardCharsets.US_ASCII));
				client.getOutputStream().flush();
			}
			for (Socket client : clients) {
				assertThat(client.getInputStream().read()).isPositive();
			}
		}
		finally {
			for (Socket client : clients) {
				client.close();
			}
		}
		assertThat(Application.aborted.await(30, TimeUnit.SECONDS)).isTrue();
		application.assertUsed("tokens", 10);
	}

	@Test
	void costsThatAreNeverSettledAreFreeAfterTheWindow() {
		application.get("/tokens/none");
		application.assertUsed("tokens", 10);
		application.advance(Duration.ofHours(1));
		application.assertUsed("tokens", 0);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { ServletWebSecurityAutoConfiguration.class, UserDetailsServiceAutoConfiguration.class })
	@RestController
	static class Application {

		private static volatile CountDownLatch aborted = new CountDownLatch(1);

		@GetMapping("/login/status/{status}")
		void status(@PathVariable int status, HttpServletResponse response) {
			response.setStatus(status);
		}

		@GetMapping("/login/error/{status}")
		void error(@PathVariable int status, HttpServletResponse response) throws IOException {
			response.sendError(status);
		}

		@GetMapping("/login/throw")
		void fail() {
			throw new IllegalStateException("broken");
		}

		@GetMapping("/login/callable/{status}")
		Callable<String> callable(@PathVariable int status, HttpServletResponse response) {
			return () -> {
				response.setStatus(status);
				return "";
			};
		}

		@GetMapping("/login/callable-throw")
		Callable<String> failingCallable() {
			return () -> {
				throw new IllegalStateException("broken");
			};
		}

		@GetMapping("/login/time-out")
		DeferredResult<String> never() {
			return new DeferredResult<>();
		}

		@GetMapping("/login/stream")
		StreamingResponseBody stream() {
			return (output) -> output.write(1);
		}

		@GetMapping("/method/{status}")
		@RateLimited("method")
		void method(@PathVariable int status, HttpServletResponse response) {
			response.setStatus(status);
		}

		@GetMapping("/tokens/none")
		void estimate() {
		}

		@GetMapping("/tokens/{tokens:[0-9]+}")
		void tokens(@PathVariable long tokens, HttpServletRequest request) {
			assertThat(CostSettlement.of(request).settle("tokens", tokens)).isTrue();
		}

		@GetMapping("/tokens/twice")
		void twice(HttpServletRequest request) {
			CostSettlement.of(request).settle("tokens", 50);
			CostSettlement.of(request).settle("tokens", 7);
		}

		@GetMapping("/tokens/callable")
		Callable<String> elsewhere(HttpServletRequest request) {
			CostSettlement costs = CostSettlement.of(request);
			return () -> {
				CompletableFuture.runAsync(() -> costs.settle("tokens", 4)).join();
				return "";
			};
		}

		@GetMapping("/tokens/throw")
		void failLate(HttpServletRequest request) {
			CostSettlement.of(request).settle("tokens", 6);
			throw new IllegalStateException("broken");
		}

		@GetMapping("/tokens/time-out")
		DeferredResult<String> neverDone(HttpServletRequest request) {
			CostSettlement.of(request).settle("tokens", 8);
			return new DeferredResult<>();
		}

		@GetMapping("/tokens/endless")
		StreamingResponseBody endless(HttpServletRequest request) {
			CostSettlement costs = CostSettlement.of(request);
			return (output) -> {
				try {
					costs.settle("tokens", 2);
					while (true) {
						output.write(new byte[1000]);
						output.flush();
					}
				}
				catch (IOException | UncheckedIOException ex) {
					aborted.countDown();
					throw ex;
				}
			};
		}

		@GetMapping("/free")
		String free(HttpServletRequest request) {
			return Boolean.toString(CostSettlement.of(request).settle("tokens", 5));
		}

	}

}
