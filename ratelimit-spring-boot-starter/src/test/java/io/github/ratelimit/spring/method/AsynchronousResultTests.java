package io.github.ratelimit.spring.method;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.ObservedRateLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.ManualClock;
import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;
import kotlinx.coroutines.flow.FlowKt;
import org.aopalliance.intercept.MethodInterceptor;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.NonBlocking;
import reactor.core.scheduler.Schedulers;

import org.springframework.aop.Advisor;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.Ordered;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;

import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Limited methods whose results come later.
 */
class AsynchronousResultTests {

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	private final List<Thread> deciders = new ArrayList<>();

	private @Nullable StoreException failure;

	private final ApplicationContextRunner runner = StarterRunners.nonWeb()
		.withBean(RateLimiter.class,
				() -> new ObservedRateLimiter(new MemoryRateLimiter(this.clock), (request) -> decide(), (request) -> {
				}))
		.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.defaults.on-store-failure=deny");

	private void decide() {
		this.deciders.add(Thread.currentThread());
		if (this.failure != null) {
			throw this.failure;
		}
	}

	@AfterEach
	void logOut() {
		SecurityContextHolder.clearContext();
	}

	@Test
	void futureOfDeniedCallFails() {
		run(this.runner, Methods.class, (methods) -> {
			assertThat(methods.future("a").join()).isEqualTo("called a");
			assertDenied(methods.future("b")::get);
			assertThat(methods.stage("a").toCompletableFuture().join()).isEqualTo("called a");
			assertDenied(methods.stage("b").toCompletableFuture()::get);
			assertThat(methods.calls()).as("Calls of the methods").isEqualTo(2);
			assertThat(this.deciders).hasSize(4).containsOnly(Thread.currentThread());
		});
	}

	@Test
	void monoIsDecidedOnEachSubscriptionAndNotCancelled() {
		run(this.runner, Methods.class, (methods) -> {
			assertThat(methods.ofContext().contextWrite((each) -> each.put("name", "anna")).block()).isEqualTo("anna");
			assertThat(methods.ends()).containsExactly(SignalType.ON_COMPLETE);
			assertThat(methods.answered().block()).isEqualTo("called");
			assertThat(methods.answered().block()).isEqualTo("instead");
			this.deciders.clear();
			methods.mono("never");
			Mono<String> mono = methods.mono("a");
			assertThat(this.deciders).isEmpty();
			assertThat(methods.calls()).isZero();
			assertThat(mono.block()).isEqualTo("called a");
			assertDenied(mono::block);
			assertDenied(methods.mono("b")::block);
			this.clock.advance(Duration.ofMinutes(1));
			assertThat(mono.block()).isEqualTo("called a");
			assertThat(methods.calls()).isEqualTo(2);
			assertThat(this.deciders).hasSize(4).containsOnly(Thread.currentThread());
		});
	}

	@Test
	void everyTypeThatSpringKnowsIsDecidedOnSubscription() {
		run(this.runner, Methods.class, (methods) -> {
			for (Object result : List.of(methods.publisher(), methods.single(), methods.jdkFlow(),
					methods.kotlinFlow())) {
				assertThat(values(result)).containsExactly("called");
				assertDenied(() -> values(result));
			}
			Flux<String> flux = methods.flux();
			assertThat(flux.collectList().block()).containsExactly("called", "again");
			assertDenied(flux::blockLast);
			Completable completable = methods.completable();
			completable.blockingAwait();
			assertDenied(completable::blockingAwait);
		});
	}

	private static List<Object> values(Object result) {
		Publisher<Object> publisher = ReactiveAdapterRegistry.getSharedInstance()
			.getAdapter(null, result)
			.toPublisher(result);
		return Flux.from(publisher).collectList().block();
	}

	@Test
	void failuresOfLimiterAndMethodReachTheCaller() {
		run(this.runner, Methods.class, (methods) -> {
			assertThatExceptionOfType(IOException.class).isThrownBy(methods::throwing).withMessage("its own");
			assertThat(methods.throwingMono().toFuture()).failsWithin(Duration.ofSeconds(10))
				.withThrowableThat()
				.havingRootCause()
				.isInstanceOf(IOException.class)
				.withMessage("its own");
			assertThatExceptionOfType(RateLimitedExpressionException.class).isThrownBy(methods.monoCosts(-1)::block);
			this.failure = new StoreException("gone", new IllegalStateException());
			assertThat(methods.future("a")).failsWithin(Duration.ZERO)
				.withThrowableThat()
				.havingRootCause()
				.isInstanceOf(IllegalStateException.class);
			assertThatExceptionOfType(StoreException.class).isThrownBy(methods.mono("a")::block);
			assertThat(methods.calls()).isZero();
		});
	}

	@Test
	void threadThatMustNotBlockDoesNotDecide() {
		run(this.runner, Methods.class, (methods) -> {
			assertThat(methods.mono("a").subscribeOn(Schedulers.parallel()).block()).isEqualTo("called a");
			assertDenied(methods.mono("b").subscribeOn(Schedulers.parallel())::block);
			assertThat(this.deciders).hasSize(2).allSatisfy((thread) -> {
				assertThat(thread).isNotInstanceOf(NonBlocking.class);
				assertThat(thread.getName()).startsWith("boundedElastic");
			});
		});
	}

	@Test
	void userIsThatOfTheThreadThatCalls() {
		run(this.runner, Methods.class, (methods) -> {
			logIn("anna");
			Mono<String> ofAnna = methods.ofUser().subscribeOn(Schedulers.parallel());
			logIn("bert");
			Mono<String> ofBert = methods.ofUser().subscribeOn(Schedulers.parallel());
			assertThat(ofAnna.block()).isEqualTo("called");
			assertDenied(ofAnna::block);
			assertThat(ofBert.block()).isEqualTo("called");
		});
	}

	private static void logIn(String name) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken(name, "", "ROLE_USER"));
	}

	@Test
	void otherAdviceFindsInvocationOfItsThread() {
		MethodInterceptor asking = (invocation) -> {
			assertThat(ExposeInvocationInterceptor.currentInvocation().getMethod()).isEqualTo(invocation.getMethod());
			return invocation.proceed();
		};
		NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
		pointcut.setMappedName("mono");
		DefaultPointcutAdvisor first = new DefaultPointcutAdvisor(pointcut, ExposeInvocationInterceptor.INSTANCE);
		first.setOrder(Ordered.HIGHEST_PRECEDENCE);
		this.runner.withBean("first", Advisor.class, () -> first, infrastructure())
			.withBean("last", Advisor.class, () -> new DefaultPointcutAdvisor(pointcut, asking), infrastructure())
			.withBean(Methods.class)
			.run((context) -> {
				Mono<String> mono = context.getBean(Methods.class).mono("a");
				assertThat(mono.subscribeOn(Schedulers.parallel()).block()).isEqualTo("called a");
			});
	}

	private static BeanDefinitionCustomizer infrastructure() {
		return (definition) -> ((AbstractBeanDefinition) definition).setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
	}

	private static void assertDenied(ThrowingCallable call) {
		assertThat(catchThrowable(call)).satisfiesAnyOf(
				(thrown) -> assertThat(thrown).isInstanceOf(RateLimitExceededException.class),
				(thrown) -> assertThat(thrown).cause().isInstanceOf(RateLimitExceededException.class));
	}

	static class Methods {

		private final AtomicInteger calls = new AtomicInteger();

		private final List<SignalType> ends = new ArrayList<>();

		public int calls() {
			return this.calls.get();
		}

		public List<SignalType> ends() {
			return this.ends;
		}

		private <T> T called(T result) {
			this.calls.incrementAndGet();
			return result;
		}

		@RateLimited(limits = "1/m")
		public CompletableFuture<String> future(String text) {
			return called(CompletableFuture.completedFuture("called " + text));
		}

		@RateLimited(limits = "1/m")
		public CompletionStage<String> stage(String text) {
			return called(CompletableFuture.completedStage("called " + text));
		}

		@RateLimited(limits = "1/m")
		public Mono<String> mono(String text) {
			return called(Mono.just("called " + text));
		}

		@RateLimited(limits = "1/m", fallbackMethod = "instead")
		public Mono<String> answered() {
			return Mono.just("called");
		}

		private Mono<String> instead() {
			return Mono.just("instead");
		}

		@RateLimited(limits = "1/m")
		public Flux<String> flux() {
			return Flux.just("called", "again");
		}

		@RateLimited(limits = "1/m")
		public Publisher<String> publisher() {
			return Mono.just("called");
		}

		@RateLimited(limits = "1/m")
		public Single<String> single() {
			return Single.just("called");
		}

		@RateLimited(limits = "1/m")
		public Completable completable() {
			return Completable.complete();
		}

		@RateLimited(limits = "1/m")
		public Flow.Publisher<String> jdkFlow() {
			return JdkFlowAdapter.publisherToFlowPublisher(Mono.just("called"));
		}

		@RateLimited(limits = "1/m")
		public kotlinx.coroutines.flow.Flow<String> kotlinFlow() {
			return FlowKt.flowOf("called");
		}

		@RateLimited(limits = "1/m", costExpression = "#a0")
		public Mono<String> monoCosts(int cost) {
			return called(Mono.just("called"));
		}

		@RateLimited(limits = "1/m")
		public CompletableFuture<String> throwing() throws IOException {
			throw new IOException("its own");
		}

		@RateLimited(limits = "1/m")
		public Mono<String> throwingMono() throws IOException {
			throw new IOException("its own");
		}

		@RateLimited(limits = "1/m", identifiers = "user")
		public Mono<String> ofUser() {
			return Mono.just("called");
		}

		@RateLimited(limits = "1/m")
		public Mono<String> ofContext() {
			return Mono.deferContextual((context) -> Mono.just(context.<String>get("name"))).doFinally(this.ends::add);
		}

	}

}
