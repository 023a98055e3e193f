package io.github.ratelimit.spring.method;

import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.ratelimit.Decision;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.decide.Decided;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
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

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Limited methods that run at the same time, and what shows that one runs, for each kind
 * of result.
 */
class ConcurrentMethodTests {

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.one.concurrent=1");

	private final Call call = new Call();

	private final Signs signs = new Signs(this.call);

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
				assertThatIllegalStateException().isThrownBy(() -> methods.plain(() -> {
					throw new IllegalStateException();
				}));
			}
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
	void callOfMonoEndsWhenCancelledDuringDecision() {
		CompletableFuture<String> asked = new CompletableFuture<>();
		CompletableFuture<String> answer = new CompletableFuture<>();
		run(StarterRunners.nonWeb().withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(() -> {
			if (Thread.currentThread().getName().startsWith("boundedElastic")) {
				asked.complete("");
				answer.join();
			}
			return Instant.parse("2026-03-01T12:00:00Z");
		})).withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.policies.one.concurrent=1"),
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
	void callEndsElsewhereWhenItsThreadMustNotBlock() {
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

	/** The thread that made the stage may be of a pool, or end. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void methodRunsUntilItsStageIsDone(boolean future) {
		runSigns((bean) -> {
			assertThat(bean.now()).isTrue();
			CompletableFuture<String> result = new CompletableFuture<>();
			List<Thread> threads = new ArrayList<>();
			CompletableFuture
				.runAsync(() -> bean.stage(future ? result.minimalCompletionStage() : new OwnStage<>(result).proxy()),
						(task) -> {
							threads.add(new Thread(task));
							threads.get(0).start();
						})
				.join();
			await().until(() -> !threads.get(0).isAlive());
			assertThat(this.call.sign.getAsBoolean()).isTrue();
			result.complete("done");
			assertThat(this.call.sign.getAsBoolean()).isFalse();
			assertThat(this.call.ended).isTrue();
		});
	}

	@Test
	void nothingShowsThatMethodRunsWhenItsStageIsLost() {
		runSigns((bean) -> {
			bean.stage(new OwnStage<>(new CompletableFuture<String>()).proxy());
			await().until(() -> {
				System.gc();
				return !this.call.sign.getAsBoolean();
			});
			assertThat(this.call.ended).isFalse();
		});
	}

	@Test
	void eachElementShowsThatMethodRuns() {
		runSigns((bean) -> {
			bean.elements().subscribe();
			assertThat(this.call.sign.getAsBoolean()).isFalse();
			this.signs.sink.tryEmitNext("first");
			assertThat(this.call.sign.getAsBoolean()).isTrue();
			assertThat(this.call.sign.getAsBoolean()).isFalse();
			this.signs.sink.tryEmitComplete();
			assertThat(this.call.ended).isTrue();
		});
	}

	private void runSigns(Consumer<Signs> test) {
		StarterRunners.inMemory()
			.withBean(PolicyEnforcer.class, () -> new LimitedBeans.Enforcer(() -> this.call))
			.withBean(Signs.class, () -> this.signs)
			.run((context) -> test.accept(context.getBean(Signs.class)));
	}

	/** A stage that is no future. */
	private record OwnStage<T>(CompletionStage<T> stage) {

		@SuppressWarnings("unchecked")
		CompletionStage<T> proxy() {
			return (CompletionStage<T>) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { CompletionStage.class },
					(proxy, method, arguments) -> method.invoke(this.stage, arguments));
		}

	}

	private static final class Call extends Decided {

		private BooleanSupplier sign = () -> false;

		private boolean ended;

		Call() {
			super(new Decision(true, List.of()));
		}

		@Override
		public boolean isRunning() {
			return !this.ended;
		}

		@Override
		public void watch(BooleanSupplier sign) {
			this.sign = sign;
		}

		@Override
		public void end() {
			this.ended = true;
		}

	}

	static class Signs {

		private final Call call;

		private final Sinks.Many<String> sink = Sinks.many().unicast().onBackpressureBuffer();

		Signs(Call call) {
			this.call = call;
		}

		@RateLimited(limits = "9/m")
		public boolean now() {
			return this.call.sign.getAsBoolean();
		}

		@RateLimited(limits = "9/m")
		public CompletionStage<String> stage(CompletionStage<String> stage) {
			return stage;
		}

		@RateLimited(limits = "9/m")
		public Flux<String> elements() {
			return this.sink.asFlux();
		}

	}

	static class Methods {

		@RateLimited("one")
		String plain(Supplier<String> method) {
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

}
