package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.validation.constraints.Min;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

/** All ways to serve a request, below many paths. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(
		exclude = { ServletWebSecurityAutoConfiguration.class, UserDetailsServiceAutoConfiguration.class })
@Controller
class DispatchApplication {

	static volatile CountDownLatch aborted = new CountDownLatch(1);

	@GetMapping({ "/api/plain", "/api/other", "/open/plain", "/tokens/none" })
	@ResponseBody
	String plain() {
		return "served";
	}

	@GetMapping("/open/forward")
	String forward() {
		return "forward:/api/plain";
	}

	@GetMapping("/api/forward")
	String forwardWithin() {
		return "forward:/api/plain";
	}

	@GetMapping({ "/open/include", "/api/include" })
	void include(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
		response.getOutputStream().print("begun ");
		request.getRequestDispatcher("/api/plain").include(request, response);
		request.getRequestDispatcher("/api/other").include(request, response);
	}

	@GetMapping("/open/include-or-forward")
	void includeOrForward(HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		try {
			request.getRequestDispatcher("/api/plain").include(request, response);
		}
		catch (RateLimitExceededException ex) {
			request.getRequestDispatcher("/tokens/3").forward(request, response);
		}
	}

	@GetMapping({ "/open/dispatch", "/api/dispatch" })
	void dispatch(HttpServletRequest request, HttpServletResponse response) {
		request.startAsync().dispatch("/api/plain");
	}

	@GetMapping({ "/open/error/{status}", "/api/error/{status}", "/login/error/{status}" })
	void error(@PathVariable int status, HttpServletResponse response) throws IOException {
		response.sendError(status);
	}

	@GetMapping({ "/open/throw", "/api/throw", "/login/throw" })
	void fail() {
		throw new IllegalStateException("expected by this test");
	}

	@GetMapping("/login/status/{status}")
	void status(@PathVariable int status, HttpServletResponse response) {
		response.setStatus(status);
	}

	@GetMapping("/login/callable/{status}")
	@ResponseBody
	Callable<String> callable(@PathVariable int status, HttpServletResponse response) {
		return () -> {
			response.setStatus(status);
			return "";
		};
	}

	@GetMapping({ "/login/callable-throw", "/api/callable-throw" })
	Callable<String> failingCallable() {
		return () -> {
			throw new IllegalStateException("expected by this test");
		};
	}

	@GetMapping("/login/future/{status}")
	@ResponseBody
	CompletableFuture<String> future(@PathVariable int status, HttpServletResponse response) {
		return CompletableFuture.supplyAsync(() -> {
			response.setStatus(status);
			return "";
		});
	}

	@GetMapping({ "/login/time-out", "/api/time-out" })
	DeferredResult<String> never() {
		return new DeferredResult<>();
	}

	@GetMapping({ "/login/stream", "/api/stream" })
	StreamingResponseBody stream() {
		return (output) -> output.write(1);
	}

	@GetMapping("/api/events")
	SseEmitter events() throws IOException {
		SseEmitter emitter = new SseEmitter();
		emitter.send("served");
		emitter.complete();
		return emitter;
	}

	@GetMapping("/method/{status}")
	@RateLimited("method")
	void method(@PathVariable int status, HttpServletResponse response) {
		response.setStatus(status);
	}

	@GetMapping("/rows")
	@ResponseBody
	@RateLimited(policy = "tokens", costExpression = "#rows.get(0) / 100 + 1")
	String rows(@RequestParam List<Integer> rows) {
		return "served";
	}

	@GetMapping("/checked-rows")
	@ResponseBody
	@RateLimited(policy = "tokens", costExpression = "#rows > 0 ? #rows / 100 + 1 : 1")
	String checkedRows(@RequestParam int rows) {
		return "served";
	}

	@GetMapping("/valid-rows")
	@ResponseBody
	@RateLimited("tokens")
	String validRows(@Min(1) @RequestParam int rows) {
		return "served";
	}

	@GetMapping("/tokens/{tokens:[0-9]+}")
	@ResponseBody
	void tokens(@PathVariable long tokens, HttpServletRequest request, HttpServletResponse response) {
		assertThat(CostSettlement.of(request).settle("tokens", tokens)).isTrue();
		response.setStatus(200);
	}

	@GetMapping("/tokens/twice")
	@ResponseBody
	String twice(HttpServletRequest request) {
		CostSettlement.of(request).settle("tokens", 50);
		CostSettlement.of(request).settle("tokens", 7);
		return "";
	}

	@GetMapping("/tokens/callable")
	@ResponseBody
	Callable<String> elsewhere(HttpServletRequest request) {
		CostSettlement costs = CostSettlement.of(request);
		return () -> {
			CompletableFuture.runAsync(() -> costs.settle("tokens", 4)).join();
			return "";
		};
	}

	@GetMapping("/tokens/future")
	@ResponseBody
	CompletableFuture<String> future(HttpServletRequest request) {
		CostSettlement costs = CostSettlement.of(request);
		return CompletableFuture.supplyAsync(() -> Boolean.toString(costs.settle("tokens", 5)));
	}

	@GetMapping("/tokens/deferred")
	@ResponseBody
	DeferredResult<String> deferred(HttpServletRequest request) {
		CostSettlement costs = CostSettlement.of(request);
		DeferredResult<String> result = new DeferredResult<>();
		new Thread(() -> result.setResult(Boolean.toString(costs.settle("tokens", 5)))).start();
		return result;
	}

	@GetMapping("/tokens/stream")
	StreamingResponseBody stream(HttpServletRequest request) {
		CostSettlement costs = CostSettlement.of(request);
		return (output) -> {
			output.write(1);
			output.flush();
			costs.settle("tokens", 3);
		};
	}

	@GetMapping("/tokens/events")
	SseEmitter events(HttpServletRequest request) {
		CostSettlement costs = CostSettlement.of(request);
		SseEmitter emitter = new SseEmitter();
		new Thread(() -> {
			try {
				emitter.send("served");
				costs.settle("tokens", 3);
				emitter.complete();
			}
			catch (IOException ex) {
				emitter.completeWithError(ex);
			}
		}).start();
		return emitter;
	}

	@GetMapping("/tokens/throw")
	void failLate(HttpServletRequest request) {
		CostSettlement.of(request).settle("tokens", 6);
		throw new IllegalStateException("expected by this test");
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
				while (true) {
					output.write(new byte[1000]);
					output.flush();
					costs.settle("tokens", 2);
				}
			}
			catch (IOException | UncheckedIOException ex) {
				aborted.countDown();
				throw ex;
			}
		};
	}

	@GetMapping("/tokens/endless-events")
	SseEmitter endlessEvents(HttpServletRequest request) {
		CostSettlement costs = CostSettlement.of(request);
		SseEmitter emitter = new SseEmitter(1000L);
		new Thread(() -> {
			try {
				while (true) {
					emitter.send("x".repeat(1000));
					costs.settle("tokens", 2);
				}
			}
			catch (IOException | IllegalStateException ex) {
				aborted.countDown();
				completeIfNotOver(emitter, ex);
			}
		}).start();
		return emitter;
	}

	/**
	 * Tomcat does not always tell of the end by itself; where it does, it refuses this.
	 */
	private static void completeIfNotOver(SseEmitter emitter, Exception ex) {
		try {
			emitter.completeWithError(ex);
		}
		catch (IllegalStateException over) {
			assertThat(over).hasMessageContaining("AsyncContext");
		}
	}

	@GetMapping("/free")
	@ResponseBody
	String free(HttpServletRequest request) {
		return Boolean.toString(CostSettlement.of(request).settle("tokens", 5));
	}

	@Bean
	ServletRegistrationBean<PlainServlet> plainServlet() {
		ServletRegistrationBean<PlainServlet> servlet = new ServletRegistrationBean<>(new PlainServlet(),
				"/tokens/servlet/*");
		servlet.setAsyncSupported(true);
		return servlet;
	}

	/** Serves requests in other threads, without Spring. */
	static class PlainServlet extends HttpServlet {

		private static final long serialVersionUID = 1;

		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) {
			if (request.getAttribute("tokens") instanceof Long tokens) {
				assertThat(request.getDispatcherType()).isEqualTo(DispatcherType.ASYNC);
				CostSettlement.of(request).settle("tokens", tokens);
				return;
			}
			CostSettlement costs = CostSettlement.of(request);
			AsyncContext async = request.startAsync();
			async.setTimeout(300);
			switch (request.getPathInfo()) {
				case "/complete" -> new Thread(() -> {
					costs.settle("tokens", 3);
					async.complete();
				}).start();
				case "/complete-at-once" -> {
					costs.settle("tokens", 3);
					async.complete();
				}
				case "/dispatch" -> new Thread(() -> {
					request.setAttribute("tokens", 4L);
					async.dispatch();
				}).start();
				case "/dispatch-at-once" -> {
					request.setAttribute("tokens", 4L);
					async.dispatch();
				}
				case "/again" -> new Thread(() -> async.dispatch("/tokens/servlet/complete")).start();
				default -> costs.settle("tokens", 7);
			}
		}

	}

}
