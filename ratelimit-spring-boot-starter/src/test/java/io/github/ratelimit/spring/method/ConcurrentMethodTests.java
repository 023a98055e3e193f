package io.github.ratelimit.spring.method;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Limited methods that run at the same time.
 */
class ConcurrentMethodTests {

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.one.concurrent=1", "ratelimit.policies.both.limits=3/h",
				"ratelimit.policies.both.concurrent=1");

	private static void run(ApplicationContextRunner runner, ThrowingConsumer<Methods> test) {
		LimitedBeans.run(runner, Methods.class, test);
	}

	@Test
	void callCountsUntilTheMethodHasReturned() {
		run(this.runner, (methods) -> {
			for (int i = 0; i < 3; i++) {
				assertThat(methods.plain(() -> {
					assertDenied(() -> methods.plain(() -> "denied"), "Rate limit exceeded: one (1 concurrent)");
					return "called";
				})).isEqualTo("called");
			}
		});
	}

	@Test
	void callEndsWithAnException() {
		run(this.runner, (methods) -> {
			for (int i = 0; i < 3; i++) {
				assertThatIllegalStateException().isThrownBy(() -> methods.plain(() -> {
					throw new IllegalStateException();
				}));
			}
		});
	}

	@Test
	void limitsAndConcurrentCallsAreDecidedTogether() {
		run(this.runner, (methods) -> {
			methods.both(() -> {
				assertDenied(() -> methods.both(() -> "denied"));
				return "called";
			});
			assertThat(methods.both(() -> "called")).isEqualTo("called");
			assertThat(methods.both(() -> "called")).isEqualTo("called");
			assertDenied(() -> methods.both(() -> "denied"));
		});
	}

	@Test
	void callOfFutureEndsWhenTheFutureIsCompleted() {
		run(this.runner, (methods) -> {
			CompletableFuture<String> first = methods.future(new CompletableFuture<>());
			assertThat(methods.future(new CompletableFuture<>())).isCompletedExceptionally();
			first.complete("called");
			CompletableFuture<String> second = methods.future(new CompletableFuture<>());
			assertDenied(() -> methods.plain(() -> "denied"));
			second.cancel(true);
			methods.future(new CompletableFuture<>()).completeExceptionally(new IllegalStateException());
			assertThat(methods.plain(() -> "called")).isEqualTo("called");
			assertThat(methods.future(null)).isNull();
			assertThat(methods.plain(() -> "called")).isEqualTo("called");
		});
	}

	@Test
	void callOfMonoEndsWhenItTerminatesOrIsCancelled() {
		run(this.runner, (methods) -> {
			Sinks.One<String> sink = Sinks.one();
			Mono<String> mono = methods.mono(sink.asMono());
			assertThat(methods.plain(() -> "called")).isEqualTo("called");
			Disposable subscription = mono.subscribe();
			assertDenied(mono::block);
			subscription.dispose();
			CompletableFuture<String> second = mono.toFuture();
			assertDenied(() -> methods.plain(() -> "denied"));
			sink.tryEmitValue("called");
			assertThat(second.join()).isEqualTo("called");
			assertThat(methods.plain(() -> "called")).isEqualTo("called");
			assertThatIllegalStateException()
				.isThrownBy(() -> methods.mono(Mono.error(new IllegalStateException())).block());
			assertThatIllegalStateException().isThrownBy(() -> methods.failing().block());
			assertThat(methods.plain(() -> "called")).isEqualTo("called");
		});
	}

	@Test
	void callOfMonoThatIsCancelledWhileItIsDecidedEnds() {
		CompletableFuture<String> asked = new CompletableFuture<>();
		CompletableFuture<String> answer = new CompletableFuture<>();
		run(StarterRunners.nonWeb().withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(() -> {
			if (Thread.currentThread().getName().startsWith("boundedElastic")) {
				asked.complete("");
				answer.join();
			}
			return Instant.parse("2026-03-01T12:00:00Z");
		}))
			.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.policies.one.concurrent=1",
					"ratelimit.policies.both.limits=1/h"),
				(methods) -> {
					Disposable subscription = methods.mono(Mono.never()).subscribeOn(Schedulers.parallel()).subscribe();
					asked.join();
					subscription.dispose();
					answer.complete("");
					await().ignoreExceptionsInstanceOf(RateLimitExceededException.class)
						.untilAsserted(() -> assertThat(methods.plain(() -> "called")).isEqualTo("called"));
				});
	}

	@Test
	void callThatEndsOnThreadThatMustNotBlockIsEndedElsewhere() {
		run(this.runner, (methods) -> {
			assertThat(methods.mono(Mono.just("called").publishOn(Schedulers.parallel())).block()).isEqualTo("called");
			await().ignoreExceptionsInstanceOf(RateLimitExceededException.class)
				.untilAsserted(() -> assertThat(methods.plain(() -> "called")).isEqualTo("called"));
		});
	}

	@Test
	void callOfFluxEndsWhenItTerminatesOrIsCancelled() {
		run(this.runner, (methods) -> {
			Sinks.Many<String> sink = Sinks.many().multicast().directBestEffort();
			List<String> received = new ArrayList<>();
			methods.flux(sink.asFlux()).subscribe(received::add);
			sink.tryEmitNext("a");
			assertDenied(() -> methods.plain(() -> "denied"));
			sink.tryEmitComplete();
			assertThat(received).containsExactly("a");
			assertThat(methods.flux(Flux.just("a", "b", "c")).take(1).collectList().block()).containsExactly("a");
			assertThat(methods.plain(() -> "called")).isEqualTo("called");
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { Deferred.class, Later.class, Emitting.class, Streaming.class, Waiting.class,
			Publishing.class, Anything.class, InBackground.class })
	void startFailsWhenTheEndOfCallsIsUnknown(Class<?> methods) {
		this.runner.withBean(methods)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("it is not known when such a call ends"));
		StarterRunners.inMemory()
			.withBean(methods)
			.withPropertyValues("ratelimit.policies.one.limits=1/h")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	static class Methods {

		@RateLimited("one")
		String plain(Supplier<String> method) {
			return method.get();
		}

		@RateLimited(policy = "both")
		String both(Supplier<String> method) {
			return method.get();
		}

		@RateLimited("one")
		CompletableFuture<String> future(CompletableFuture<String> result) {
			return result;
		}

		@RateLimited("one")
		Mono<String> mono(Mono<String> result) {
			return result;
		}

		@RateLimited("one")
		Mono<String> failing() {
			throw new IllegalStateException();
		}

		@RateLimited("one")
		Flux<String> flux(Flux<String> result) {
			return result;
		}

	}

	static class Deferred {

		@RateLimited("one")
		DeferredResult<String> get() {
			return new DeferredResult<>();
		}

	}

	static class Later {

		@RateLimited("one")
		Callable<String> get() {
			return () -> "";
		}

	}

	static class Emitting {

		@RateLimited("one")
		SseEmitter get() {
			return new SseEmitter();
		}

	}

	static class Streaming {

		@RateLimited("one")
		ResponseEntity<StreamingResponseBody> get() {
			return ResponseEntity.ok((output) -> output.write(1));
		}

	}

	static class Publishing {

		@RateLimited("one")
		ResponseEntity<Flux<String>> get() {
			return ResponseEntity.ok(Flux.never());
		}

	}

	static class Anything {

		@RateLimited("one")
		ResponseEntity<?> get() {
			return ResponseEntity.ok(new SseEmitter());
		}

	}

	static class Waiting {

		@RateLimited("one")
		Future<String> get() {
			return new CompletableFuture<>();
		}

	}

	static class InBackground {

		@Async
		@RateLimited("one")
		void run() {
		}

	}

}
