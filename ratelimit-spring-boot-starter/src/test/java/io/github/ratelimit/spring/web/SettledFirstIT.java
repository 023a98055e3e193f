package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that take the costs of their request before anything is limited, and settle
 * bytes.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit.policies:
		  sent: { limits: 1000000/h, unit: bytes }
		server.shutdown: immediate
		""")
class SettledFirstIT {

	private static final int SENT = 50_000;

	private static volatile CountDownLatch aborted = new CountDownLatch(1);

	@Parameter
	TestApplication application;

	@ParameterizedTest
	@CsvSource({ "/plain, 200", "/callable, 200", "/deferred, 200", "/future, 200", "/stream, 200", "/throw, 500",
			"/stream/throw, 200" })
	void bytesAreSettledAtTheEnd(String path, int status) {
		assertThat(status(path)).isEqualTo(status);
		this.application.assertUsed("sent", SENT);
	}

	@Test
	void headersTellOfBytes() {
		HttpResponse<String> response = this.application.get("/plain");
		assertThat(response.headers().allValues("RateLimit-Policy"))
			.containsExactly("\"sent\";q=1000000;qu=\"content-bytes\";w=3600");
		assertThat(response.headers().allValues("RateLimit")).containsExactly("\"sent\";r=999990;t=3600");
		this.application.assertUsed("sent", SENT);
		assertThat(this.application.get("/plain").headers().allValues("RateLimit"))
			.containsExactly("\"sent\";r=949990;t=3600");
		this.application.assertUsed("sent", 2 * SENT);
	}

	@Test
	void nothingIsSettledBeforeSomethingIsLimited() {
		assertThat(this.application.get("/early").body()).isEqualTo("false");
		this.application.assertUsed("sent", 10);
	}

	/** Often, because Tomcat forgets about one of ten such requests without an event. */
	@RepeatedTest(30)
	void bytesAreSettledWhenTheClientGoesAway() throws Exception {
		aborted = new CountDownLatch(1);
		try (Socket client = new Socket("127.0.0.1", this.application.port())) {
			client.getOutputStream()
				.write("GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
			client.getOutputStream().flush();
			assertThat(client.getInputStream().readNBytes(SENT)).hasSize(SENT);
		}
		assertThat(aborted.await(30, TimeUnit.SECONDS)).isTrue();
		this.application.assertUsed("sent", SENT);
	}

	/** Returns 200 for a response that breaks off after its head. */
	private int status(String path) {
		try {
			return this.application.get(path).statusCode();
		}
		catch (UncheckedIOException ex) {
			return 200;
		}
	}

	@OpenApplication
	@Import({ Sending.class, Handlers.class })
	static class Application {

	}

	static class Sending {

		@RateLimited(policy = "sent", cost = 10)
		public void begin() {
		}

	}

	@RestController
	record Handlers(Sending sending) {

		private CostSettlement begin(HttpServletRequest request) {
			CostSettlement costs = CostSettlement.of(request);
			this.sending.begin();
			return costs;
		}

		@GetMapping("/early")
		String early(HttpServletRequest request) {
			boolean settled = CostSettlement.of(request).settle("sent", SENT);
			this.sending.begin();
			return Boolean.toString(settled);
		}

		@GetMapping("/plain")
		String plain(HttpServletRequest request) {
			begin(request).settle("sent", SENT);
			return "x".repeat(SENT);
		}

		@GetMapping("/throw")
		String fail(HttpServletRequest request) {
			begin(request).settle("sent", SENT);
			throw new IllegalStateException("expected by this test");
		}

		@GetMapping("/callable")
		Callable<String> callable(HttpServletRequest request) {
			CostSettlement costs = begin(request);
			return () -> {
				costs.settle("sent", SENT);
				return "x".repeat(SENT);
			};
		}

		@GetMapping("/deferred")
		DeferredResult<String> deferred(HttpServletRequest request) {
			CostSettlement costs = begin(request);
			DeferredResult<String> result = new DeferredResult<>();
			new Thread(() -> {
				costs.settle("sent", SENT);
				result.setResult("x".repeat(SENT));
			}).start();
			return result;
		}

		@GetMapping("/future")
		CompletableFuture<String> future(HttpServletRequest request) {
			CostSettlement costs = begin(request);
			return CompletableFuture.supplyAsync(() -> {
				costs.settle("sent", SENT);
				return "x".repeat(SENT);
			});
		}

		@GetMapping("/stream")
		ResponseEntity<StreamingResponseBody> stream(HttpServletRequest request) {
			CostSettlement costs = begin(request);
			return ResponseEntity.ok((output) -> {
				output.write(new byte[SENT]);
				output.flush();
				costs.settle("sent", SENT);
			});
		}

		@GetMapping("/stream/throw")
		ResponseEntity<StreamingResponseBody> failingStream(HttpServletRequest request) {
			CostSettlement costs = begin(request);
			return ResponseEntity.ok((output) -> {
				output.write(new byte[SENT]);
				output.flush();
				costs.settle("sent", SENT);
				throw new IOException("expected by this test");
			});
		}

		@GetMapping("/endless")
		ResponseEntity<StreamingResponseBody> endless(HttpServletRequest request) {
			CostSettlement costs = begin(request);
			return ResponseEntity.ok((output) -> {
				try {
					while (true) {
						output.write(new byte[SENT]);
						output.flush();
						costs.settle("sent", SENT);
					}
				}
				catch (IOException | UncheckedIOException ex) {
					aborted.countDown();
					throw ex;
				}
			});
		}

	}

}
