package io.github.ratelimit.spring.method;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.policy.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import io.github.ratelimit.test.ManualClock;
import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Single;
import kotlinx.coroutines.flow.FlowKt;
import org.aopalliance.intercept.MethodInterceptor;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.ConnectableFlux;
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
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.Ordered;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;

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

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitRedisAutoConfiguration.class, RateLimitMethodAutoConfiguration.class,
				RateLimitNonWebAutoConfiguration.class))
		.withBean(RateLimiter.class, () -> new Store(new MemoryRateLimiter(this.clock)))
		.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.defaults.on-store-failure=deny");

	@AfterEach
	void logOut() {
		SecurityContextHolder.clearContext();
	}

	@Test
	void futureOfDeniedCallFails() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			assertThat(methods.future("a").join()).isEqualTo("called a");
			assertDenied(methods.future("b")::get);
			assertThat(methods.stage("a").toCompletableFuture().join()).isEqualTo("called a");
			assertDenied(methods.stage("b").toCompletableFuture()::get);
			assertThat(methods.calls()).as("Calls of the methods").isEqualTo(2);
		});
	}

	@Test
	void futureIsDecidedWhenMethodIsCalled() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			CompletableFuture<String> first = methods.future("a");
			first.join();
			first.join();
			assertThat(this.deciders).containsExactly(Thread.currentThread());
		});
	}

	@Test
	void monoIsDecidedOnEachSubscription() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
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
		});
	}

	@Test
	void fluxIsDecidedOnEachSubscription() {
		this.runner.withBean(Methods.class).run((context) -> {
			Flux<String> flux = context.getBean(Methods.class).flux();
			assertThat(flux.collectList().block()).containsExactly("a", "b", "c");
			assertDenied(flux::blockLast);
			assertThat(this.deciders).hasSize(2);
		});
	}

	@Test
	void everyTypeThatSpringKnowsIsDecidedOnSubscription() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			for (Object result : List.of(methods.publisher(), methods.single(), methods.jdkFlow(),
					methods.kotlinFlow())) {
				assertThat(values(result)).containsExactly("called");
				assertDenied(() -> values(result));
			}
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
	void fallbackOfSameTypeAnswersDeniedCalls() {
		this.runner.withBean(Fallbacks.class).run((context) -> {
			Fallbacks methods = context.getBean(Fallbacks.class);
			assertThat(methods.future("a").join()).isEqualTo("called a");
			assertThat(methods.future("b").join()).isEqualTo("instead of b");
			assertThat(methods.mono("a").block()).isEqualTo("called a");
			assertThat(methods.mono("b").block()).isEqualTo("b: Rate limit exceeded: Fallbacks.mono (1/m)");
			assertThat(methods.flux().collectList().block()).containsExactly("called");
			assertThat(methods.flux().collectList().block()).containsExactly("instead", "of it");
		});
	}

	/** The recipe of the documentation. */
	@Test
	void deniedCallerGetsLastKnownPrice() {
		this.runner.withPropertyValues("ratelimit.policies.prices.limits=1/s").withBean(Prices.class).run((context) -> {
			Prices prices = context.getBean(Prices.class);
			assertThat(prices.price("tea").block()).isEqualTo(3);
			assertThat(prices.price("tea").block()).as("known").isEqualTo(3);
			assertThat(prices.price("coffee").block()).as("unknown").isNull();
			this.clock.advance(Duration.ofSeconds(1));
			assertThat(prices.price("coffee").block()).isEqualTo(6);
		});
	}

	@ParameterizedTest
	@CsvSource({ "FallbackOfFuture,java.util.concurrent.CompletableFuture",
			"FallbackOfMono,reactor.core.publisher.Mono", "FallbackOfValue,java.lang.String" })
	void startFailsWhenFallbackHasOtherResult(String name, String result) throws Exception {
		Class<?> type = Class.forName(AsynchronousResultTests.class.getName() + "$" + name);
		this.runner.withBean(type)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.message()
				.startsWith(
						"Invalid fallbackMethod (instead): there must be a method '%s instead()'".formatted(result)));
	}

	@ParameterizedTest
	@CsvSource({ "OwnFuture,java.util.concurrent.CompletionStage",
			"reactor.core.publisher.ConnectableFlux,reactor.core.publisher.Flux" })
	void startFailsWhenResultIsTooSpecial(String result, String known) {
		Class<?> type = result.equals("OwnFuture") ? ReturnsOwnFuture.class : ReturnsConnectableFlux.class;
		String name = result.equals("OwnFuture") ? OwnFuture.class.getTypeName() : result;
		this.runner.withBean(type)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage("Invalid result (%s): must be declared as %s.", name, known));
	}

	@Test
	void failureOfStoreIsErrorOfResult() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
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
	void failureOfExpressionIsErrorOfResult() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			assertThat(methods.futureCosts(-1)).failsWithin(Duration.ZERO)
				.withThrowableThat()
				.withCauseInstanceOf(RateLimitedExpressionException.class);
			assertThatExceptionOfType(RateLimitedExpressionException.class).isThrownBy(methods.monoCosts(-1)::block);
			assertThat(methods.calls()).isZero();
		});
	}

	@Test
	void exceptionsOfMethodAreItsOwn() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			assertThatExceptionOfType(IOException.class).isThrownBy(methods::throwing).withMessage("its own");
			Mono<String> mono = methods.throwingMono();
			assertThat(mono.toFuture()).failsWithin(Duration.ofSeconds(10))
				.withThrowableThat()
				.havingRootCause()
				.isInstanceOf(IOException.class)
				.withMessage("its own");
		});
	}

	@Test
	void threadThatMustNotBlockDoesNotDecide() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			assertThat(methods.mono("a").subscribeOn(Schedulers.parallel()).block()).isEqualTo("called a");
			assertDenied(methods.mono("b").subscribeOn(Schedulers.parallel())::block);
			assertThat(this.deciders).hasSize(2).allSatisfy((thread) -> {
				assertThat(thread).isNotInstanceOf(NonBlocking.class);
				assertThat(thread.getName()).startsWith("boundedElastic");
			});
		});
	}

	@Test
	void threadThatMayBlockDecidesItself() {
		this.runner.withBean(Methods.class).run((context) -> {
			context.getBean(Methods.class).mono("a").block();
			assertThat(this.deciders).containsExactly(Thread.currentThread());
		});
	}

	@Test
	void userIsThatOfTheThreadThatCalls() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
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
	void sourceIsNotCancelledAndSeesContextOfSubscriber() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			assertThat(methods.ofContext().contextWrite((each) -> each.put("name", "anna")).block()).isEqualTo("anna");
			assertThat(methods.ends()).containsExactly(SignalType.ON_COMPLETE);
		});
	}

	@Test
	void emptyResultStaysEmpty() {
		this.runner.withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			assertThat(methods.nothing().block()).isNull();
			assertDenied(methods.nothing()::block);
		});
	}

	@Test
	void retriedSubscriptionIsCountedOnce() {
		this.runner.withBean(Resilience.class).withBean(Methods.class).run((context) -> {
			Methods methods = context.getBean(Methods.class);
			assertThat(methods.retried().block()).isEqualTo(3);
			assertDenied(methods.retried()::block);
			assertThat(this.deciders).hasSize(2);
			assertThat(methods.calls()).isEqualTo(3);
		});
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

	/** A store that knows who asks it, and may fail. */
	private final class Store implements RateLimiter {

		private final RateLimiter limiter;

		Store(RateLimiter limiter) {
			this.limiter = limiter;
		}

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			AsynchronousResultTests.this.deciders.add(Thread.currentThread());
			if (AsynchronousResultTests.this.failure != null) {
				throw AsynchronousResultTests.this.failure;
			}
			return this.limiter.tryAcquire(request);
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			return this.limiter.peek(request);
		}

		@Override
		public void refund(RateLimitRequest request) {
			this.limiter.refund(request);
		}

		@Override
		public void charge(RateLimitRequest request) {
			this.limiter.charge(request);
		}

		@Override
		public void reset(Policy policy, Identifier identifier) {
			this.limiter.reset(policy, identifier);
		}

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

		@RateLimited(limits = "1/m")
		public Flux<String> flux() {
			return called(Flux.just("a", "b", "c"));
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
		public CompletableFuture<String> futureCosts(int cost) {
			return called(CompletableFuture.completedFuture("called"));
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

		@RateLimited(limits = "1/m")
		public Mono<Void> nothing() {
			return Mono.empty();
		}

		@RateLimited(limits = "1/m")
		@Retryable(maxRetries = 5, delay = 1)
		public Mono<Integer> retried() {
			return Mono.fromCallable(() -> {
				if (this.calls.incrementAndGet() < 3) {
					throw new IllegalStateException("again");
				}
				return this.calls.get();
			});
		}

	}

	@EnableResilientMethods
	static class Resilience {

	}

	static class Fallbacks {

		@RateLimited(limits = "1/m", fallbackMethod = "insteadLater")
		public CompletableFuture<String> future(String text) {
			return CompletableFuture.completedFuture("called " + text);
		}

		private CompletableFuture<String> insteadLater(String text) {
			return CompletableFuture.completedFuture("instead of " + text);
		}

		@RateLimited(limits = "1/m", fallbackMethod = "insteadOnce")
		public Mono<String> mono(String text) {
			return Mono.just("called " + text);
		}

		private Mono<String> insteadOnce(String text, RateLimitExceededException ex) {
			return Mono.just(text + ": " + ex.getMessage());
		}

		@RateLimited(limits = "1/m", fallbackMethod = "insteadOften")
		public Flux<String> flux() {
			return Flux.just("called");
		}

		private Flux<String> insteadOften() {
			return Flux.just("instead", "of it");
		}

	}

	static class Prices {

		private final Map<String, Long> known = new ConcurrentHashMap<>();

		@RateLimited(policy = "prices", fallbackMethod = "known")
		public Mono<Long> price(String item) {
			return ask(item).doOnNext((price) -> this.known.put(item, price));
		}

		private Mono<Long> known(String item) {
			return Mono.justOrEmpty(this.known.get(item));
		}

		private Mono<Long> ask(String item) {
			return Mono.just((long) item.length());
		}

	}

	static class FallbackOfFuture {

		@RateLimited(limits = "1/m", fallbackMethod = "instead")
		public CompletableFuture<String> call() {
			return new CompletableFuture<>();
		}

		private String instead() {
			return "";
		}

	}

	static class FallbackOfMono {

		@RateLimited(limits = "1/m", fallbackMethod = "instead")
		public Mono<String> call() {
			return Mono.empty();
		}

		private Flux<String> instead() {
			return Flux.empty();
		}

	}

	static class FallbackOfValue {

		@RateLimited(limits = "1/m", fallbackMethod = "instead")
		public String call() {
			return "";
		}

		private Mono<String> instead() {
			return Mono.empty();
		}

	}

	static class OwnFuture extends CompletableFuture<String> {

	}

	static class ReturnsOwnFuture {

		@RateLimited(limits = "1/m")
		public OwnFuture call() {
			return new OwnFuture();
		}

	}

	static class ReturnsConnectableFlux {

		@RateLimited(limits = "1/m")
		public ConnectableFlux<String> call() {
			return Flux.<String>empty().publish();
		}

	}

}
