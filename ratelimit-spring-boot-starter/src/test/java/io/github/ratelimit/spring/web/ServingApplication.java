package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
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
			for (String cost : (settled != null) ? settled : new String[0]) {
				costs.settle("tokens", Long.parseLong(cost));
			}
			return "served";
		};
	}

	@GetMapping("/*/{way:plain|other|callable|future|stream|stream-throw|events|committed|throw|callable-throw|time-out}")
	@ResponseBody
	Object serve(@PathVariable String way, HttpServletRequest request, HttpServletResponse response) throws Exception {
		Callable<String> work = work(request, response);
		return switch (way) {
			case "plain", "other" -> work.call();
			case "callable" -> work;
			case "callable-throw" -> (Callable<String>) () -> fail(work);
			case "throw" -> fail(work);
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
			case "committed" -> {
				response.getWriter().write(work.call());
				response.flushBuffer();
				yield null;
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

	@GetMapping("/*/parallel")
	@ResponseBody
	String parallel() {
		RequestAttributes attributes = RequestContextHolder.currentRequestAttributes();
		CyclicBarrier start = new CyclicBarrier(16);
		CompletableFuture<?>[] calls = IntStream.range(0, start.getParties())
			.mapToObj((i) -> CompletableFuture.supplyAsync(() -> unchecked(() -> {
				RequestContextHolder.setRequestAttributes(attributes);
				start.await();
				return (i % 2 == 0) ? this.limited.tokens() : this.limited.other();
			}), (task) -> new Thread(task).start()))
			.toArray(CompletableFuture[]::new);
		CompletableFuture.allOf(calls).join();
		return "served";
	}

	@GetMapping("/*/error/{status}")
	void error(@PathVariable int status, HttpServletRequest request, HttpServletResponse response) throws Exception {
		work(request, response).call();
		response.sendError(status);
	}

	@GetMapping("/*/{way:forward|include|include-or-forward|dispatch|dispatch-later|complete|complete-later|wait}")
	void dispatch(@PathVariable String way, @RequestParam(required = false) String[] to, HttpServletRequest request,
			HttpServletResponse response) throws ServletException, IOException {
		switch (way) {
			case "forward" -> request
				.getRequestDispatcher((request.getDispatcherType() == DispatcherType.FORWARD) ? "/none/plain" : to[0])
				.forward(request, response);
			case "include" -> {
				response.getOutputStream().print("begun ");
				for (String path : to) {
					request.getRequestDispatcher(path).include(request, response);
				}
			}
			case "include-or-forward" -> {
				try {
					request.getRequestDispatcher(to[0]).include(request, response);
				}
				catch (RateLimitExceededException ex) {
					request.getRequestDispatcher(to[1]).forward(request, response);
				}
			}
			default -> {
				Callable<String> work = work(request, response);
				AsyncContext async = request.startAsync();
				async.setTimeout(way.equals("wait") ? SHORT : LONG);
				Runnable end = switch (way.replace("-later", "")) {
					case "dispatch" -> () -> async.dispatch(to[0]);
					case "complete" -> () -> {
						unchecked(work);
						async.complete();
					};
					default -> () -> unchecked(work);
				};
				if (way.endsWith("-later")) {
					new Thread(end).start();
				}
				else {
					end.run();
				}
			}
		}
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
			Optional.ofNullable(RequestState.find(request)).ifPresent(states::add);
			chain.doFilter(request, response);
		});
	}

	@FunctionalInterface
	interface Result {

		void accept(String result) throws IOException;

	}

	static class Limited {

		@RateLimited("tokens")
		public String tokens() {
			return "called";
		}

		@RateLimited(limits = "1000/m")
		public String other() {
			return "called";
		}

	}

}
