package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * All ways to serve a request, by the second segment of its path: the first one chooses
 * policies. Parameters say what is done meanwhile: {@code call} calls a limited method,
 * {@code settle} settles tokens, {@code hold} waits for {@link #mayGoOn}, and
 * {@code status} sets the status.
 */
@OpenApplication
@Controller
@Import(ServingApplication.Limited.class)
class ServingApplication {

	static final Semaphore arrived = new Semaphore(0);

	static final Semaphore mayGoOn = new Semaphore(0);

	/** Of all requests, as they come. */
	static final Queue<RequestState> states = new ConcurrentLinkedQueue<>();

	static volatile CountDownLatch aborted = new CountDownLatch(1);

	private static final long SHORT = 300;

	private static final long LONG = 60_000;

	private final Limited limited;

	ServingApplication(Limited limited) {
		this.limited = limited;
	}

	/** What is done where the handler works, which may be on another thread. */
	private Callable<String> work(HttpServletRequest request, HttpServletResponse response) {
		CostSettlement costs = CostSettlement.of(request);
		if (request.getParameter("call") != null) {
			this.limited.tokens();
		}
		boolean holds = request.getParameter("hold") != null;
		String status = request.getParameter("status");
		String[] settled = request.getParameterValues("settle");
		return () -> {
			if (holds) {
				arrived.release();
				mayGoOn.acquireUninterruptibly();
			}
			if (status != null) {
				response.setStatus(Integer.parseInt(status));
			}
			boolean known = true;
			for (String cost : (settled != null) ? settled : new String[0]) {
				known = costs.settle("tokens", Long.parseLong(cost));
			}
			return known ? "served" : "unknown";
		};
	}

	@GetMapping("/*/{way:plain|other|callable|deferred|future|stream|stream-throw|events|throw|callable-throw|time-out}")
	@ResponseBody
	Object serve(@PathVariable String way, HttpServletRequest request, HttpServletResponse response) throws Exception {
		Callable<String> work = work(request, response);
		return switch (way) {
			case "plain", "other" -> work.call();
			case "callable" -> work;
			case "callable-throw" -> (Callable<String>) () -> fail(work);
			case "throw" -> fail(work);
			case "deferred" -> {
				DeferredResult<String> result = new DeferredResult<>(LONG);
				inThread(work, result::setResult, result::setErrorResult);
				yield result;
			}
			case "future" -> {
				CompletableFuture<String> result = new CompletableFuture<>();
				inThread(work, result::complete, result::completeExceptionally);
				yield result;
			}
			case "events" -> {
				SseEmitter emitter = new SseEmitter(LONG);
				emitter.send("begun");
				inThread(work, (result) -> {
					emitter.send(result);
					emitter.complete();
				}, emitter::completeWithError);
				yield emitter;
			}
			case "time-out" -> {
				work.call();
				yield new DeferredResult<>(SHORT);
			}
			default -> (StreamingResponseBody) (output) -> {
				output.write(1);
				output.flush();
				output.write(unchecked(work).getBytes());
				if (way.endsWith("throw")) {
					throw new IOException("expected by this test");
				}
			};
		};
	}

	private static String fail(Callable<String> work) throws Exception {
		work.call();
		throw new IllegalStateException("expected by this test");
	}

	@GetMapping("/*/committed")
	void committed(HttpServletResponse response) throws IOException {
		response.getWriter().write("served");
		response.flushBuffer();
	}

	@GetMapping("/*/error/{status}")
	void error(@PathVariable int status, HttpServletRequest request, HttpServletResponse response) throws Exception {
		work(request, response).call();
		response.sendError(status);
	}

	@GetMapping("/*/forward")
	String forward(@RequestParam String to, HttpServletRequest request) {
		return "forward:" + ((request.getDispatcherType() == DispatcherType.FORWARD) ? "/none/plain" : to);
	}

	@GetMapping("/*/include")
	void include(@RequestParam String[] to, HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		response.getOutputStream().print("begun ");
		for (String path : to) {
			request.getRequestDispatcher(path).include(request, response);
		}
	}

	@GetMapping("/*/include-or-forward")
	void includeOrForward(HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		try {
			request.getRequestDispatcher("/api/plain").include(request, response);
		}
		catch (RateLimitExceededException ex) {
			request.getRequestDispatcher("/tokens/plain").forward(request, response);
		}
	}

	@GetMapping("/*/dispatch")
	void dispatch(@RequestParam String to, HttpServletRequest request, HttpServletResponse response) {
		request.startAsync().dispatch(to);
	}

	@GetMapping("/*/endless")
	StreamingResponseBody endless(HttpServletRequest request, HttpServletResponse response) {
		Callable<String> work = work(request, response);
		return (output) -> {
			try {
				while (true) {
					output.write(new byte[1000]);
					output.flush();
					unchecked(work);
				}
			}
			catch (IOException | UncheckedIOException ex) {
				aborted.countDown();
				throw ex;
			}
		};
	}

	@GetMapping("/*/endless-events")
	SseEmitter endlessEvents(HttpServletRequest request, HttpServletResponse response) {
		Callable<String> work = work(request, response);
		SseEmitter emitter = new SseEmitter(1000L);
		new Thread(() -> {
			try {
				while (true) {
					emitter.send("x".repeat(1000));
					unchecked(work);
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

	static void inThread(Callable<String> work, Result result, Consumer<Throwable> failure) {
		new Thread(() -> {
			try {
				result.accept(work.call());
			}
			catch (Exception ex) {
				failure.accept(ex);
			}
		}).start();
	}

	private static String unchecked(Callable<String> work) {
		try {
			return work.call();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Bean
	FilterRegistrationBean<Filter> watching() {
		return new FilterRegistrationBean<>((request, response, chain) -> {
			RequestState state = RequestState.find(request);
			if (state != null) {
				states.add(state);
			}
			chain.doFilter(request, response);
		});
	}

	@Bean
	static ServletRegistrationBean<PlainServlet> plainServlet() {
		ServletRegistrationBean<PlainServlet> servlet = new ServletRegistrationBean<>(new PlainServlet(),
				"/tokens/servlet/*");
		servlet.setAsyncSupported(true);
		return servlet;
	}

	@FunctionalInterface
	interface Result {

		void accept(String result) throws IOException;

	}

	static class Limited {

		@RateLimited("tokens")
		public void tokens() {
		}

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
			async.setTimeout(request.getPathInfo().equals("/time-out") ? SHORT : LONG);
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
