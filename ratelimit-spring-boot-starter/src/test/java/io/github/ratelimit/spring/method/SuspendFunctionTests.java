package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.ObservedRateLimiter;
import io.github.ratelimit.spring.RateLimitedExpressionException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.ManualClock;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.CoroutineContext;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CoroutineStart;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.GlobalScope;
import kotlinx.coroutines.Job;
import kotlinx.coroutines.flow.Flow;
import kotlinx.coroutines.flow.FlowKt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.OverridingClassLoader;
import org.springframework.util.ReflectionUtils;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Limited functions of Kotlin that suspend.
 */
class SuspendFunctionTests {

	private final List<Thread> deciders = new CopyOnWriteArrayList<>();

	private @Nullable StoreException failure;

	private final ApplicationContextRunner runner = StarterRunners.nonWeb()
		.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.defaults.on-store-failure=deny")
		.withBean(RateLimiter.class,
				() -> new ObservedRateLimiter(new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")),
						(request) -> decide(), (request) -> {
						}));

	private void decide() {
		this.deciders.add(Thread.currentThread());
		if (this.failure != null) {
			throw this.failure;
		}
	}

	@Test
	void deniedCallThrows() {
		run(this.runner, SuspendingMethods.class, (bean) -> {
			assertThat(call((caller) -> bean.call("a", caller))).isEqualTo("called a");
			assertDenied(() -> call((caller) -> bean.call("b", caller)),
					"Rate limit exceeded: SuspendingMethods.call (1/m)");
			assertThat(call(bean::absent)).isNull();
			call(bean::nothing);
			assertDenied(() -> call(bean::nothing));
			assertThat(bean.calls()).isEqualTo(2);
		});
	}

	@Test
	void threadDecidesUnlessItIsOfCoroutines() {
		run(this.runner, SuspendingMethods.class, (bean) -> {
			call(bean::absent);
			call(Dispatchers.getUnconfined(), bean::absent);
			assertThat(this.deciders).containsExactly(Thread.currentThread(), Thread.currentThread());
			this.deciders.clear();
			Thread thread = (Thread) call(Dispatchers.getDefault(), bean::thread);
			assertThat(thread.getName()).startsWith("DefaultDispatcher-worker");
			call(Dispatchers.getUnconfined(), (caller) -> SuspendingBeansKt.callAfterDelay(bean, caller));
			call(Dispatchers.getDefault(), (caller) -> FlowKt.toList(bean.flow(), new ArrayList<>(), caller));
			assertThat(this.deciders).hasSize(3)
				.extracting(Thread::getName)
				.allSatisfy((name) -> assertThat(name).startsWith("boundedElastic"));
		});
	}

	@Test
	void failuresAreThrown() {
		run(this.runner, SuspendingMethods.class, (bean) -> {
			assertThatIOException().isThrownBy(() -> call(bean::failing)).withMessage("its own");
			assertThatExceptionOfType(RateLimitedExpressionException.class)
				.isThrownBy(() -> call((caller) -> bean.negative(-1, caller)));
			this.failure = new StoreException("gone", new IllegalStateException());
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> call(bean::nothing));
			assertThat(bean.calls()).isZero();
		});
	}

	@Test
	void functionEndsWhenItsCallerIsCancelled() {
		run(this.runner, SuspendingMethods.class, (bean) -> {
			Job caller = BuildersKt.launch(GlobalScope.INSTANCE, Dispatchers.getUnconfined(), CoroutineStart.DEFAULT,
					(scope, continuation) -> bean.endless(continuation));
			assertThat(caller.isActive()).isTrue();
			caller.cancel(null);
			await().until(bean::ended);
		});
	}

	@Test
	void flowIsDecidedEachTimeItIsCollected() {
		run(this.runner, SuspendingMethods.class, (bean) -> {
			for (Object flow : List.of(bean.flow(), call(bean::flowLater))) {
				assertThat(values(flow)).containsExactly("a", "b");
				assertDenied(() -> values(flow));
			}
			assertThat(this.deciders).hasSize(4);
		});
	}

	@Test
	void proxyOfInterfaceLimitsGenericFunction() {
		this.runner.withBean(SuspendingImplementation.class)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> {
				@SuppressWarnings("unchecked")
				SuspendingService<String> bean = context.getBean(SuspendingService.class);
				assertThat(AopUtils.isJdkDynamicProxy(bean)).isTrue();
				assertThat(call((caller) -> bean.find("a", caller))).isEqualTo("found a");
				assertThat(call((caller) -> bean.find("b", caller)))
					.isEqualTo("b: Rate limit exceeded: SuspendingImplementation.find (1/m)");
			});
	}

	/** As clients are, which libraries implement. */
	@Test
	void functionsOfDynamicProxyAreLimited() {
		SuspendingClient client = (SuspendingClient) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { SuspendingClient.class },
				(proxy, method, arguments) -> method.getName().equals("flow") ? FlowKt.flowOf("a", "b") : "called");
		this.runner.withBean(SuspendingClient.class, () -> client).run((context) -> {
			SuspendingClient bean = context.getBean(SuspendingClient.class);
			assertThat(call((caller) -> bean.call("1", caller))).isEqualTo("called");
			assertDenied(() -> call((caller) -> bean.call("1", caller)));
			Object flow = call(bean::flow);
			assertThat(values(flow)).containsExactly("a", "b");
			assertDenied(() -> values(flow));
		});
	}

	@Test
	void fallbackAnswersDeniedCallsWhetherItSuspendsOrNot() {
		run(this.runner, SuspendingFallbacks.class, (bean) -> {
			assertThat(call((caller) -> bean.suspending("a", caller))).isEqualTo("called a");
			assertThat(call((caller) -> bean.suspending("b", caller))).isEqualTo("instead of b");
			assertThat(call((caller) -> bean.plain("a", caller))).isEqualTo("called a");
			assertThat(call((caller) -> bean.plain("b", caller)))
				.isEqualTo("b: Rate limit exceeded: SuspendingFallbacks.plain (1/m)");
			assertThat(call(bean::number)).isEqualTo(1);
			assertThat(call(bean::number)).isEqualTo(42);
			assertThat(call(bean::absent)).isEqualTo("called");
			assertThat(call(bean::absent)).isNull();
			call(bean::nothing);
			assertThatIOException().isThrownBy(() -> call(bean::nothing)).withMessage("too often");
			Object flow = call(bean::flow);
			assertThat(values(flow)).containsExactly("called");
			assertThat(values(flow)).containsExactly("instead", "of it");
			Object later = call(bean::flowLater);
			assertThat(values(later)).containsExactly("called");
			assertThat(values(later)).containsExactly("later");
		});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					SuspendingMono           | Invalid result (reactor.core.publisher.Mono): a suspend function must return the value.
					SuspendingStateFlow      | Invalid result (kotlinx.coroutines.flow.StateFlow): must be declared as kotlinx.coroutines.flow.Flow.
					ContinuationInExpression | #a1 is not allowed
					FallbackOfOtherResult    | Invalid fallbackMethod (instead): there must be a method 'java.lang.String instead(java.lang.String)'
					FallbackOnlySuspends     | Invalid fallbackMethod (instead): there must be a method 'java.lang.Object instead(java.lang.String)'
					InJava                   | Invalid suspend function (call): must be written in Kotlin.
					""")
	void startFails(String name, String message) throws Exception {
		this.runner.withBean(type(name))
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining(message));
	}

	private static Class<?> type(String name) throws ClassNotFoundException {
		String owner = name.equals("InJava") ? SuspendFunctionTests.class.getName() + '$'
				: SuspendFunctionTests.class.getPackageName() + '.';
		return Class.forName(owner + name);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					nothing | kotlin.reflect             | suspend function (nothing): needs kotlin-reflect
					nothing | kotlinx.coroutines.reactor | suspend function (nothing): needs kotlinx-coroutines-reactor
					flow    | kotlinx.coroutines.reactor | result (kotlinx.coroutines.flow.Flow): needs kotlinx-coroutines-reactor
					""")
	void startFailsWithoutLibrary(String function, String hidden, String message) throws Exception {
		Method method = MethodIntrospector
			.selectMethods(SuspendingMethods.class,
					(ReflectionUtils.MethodFilter) (each) -> each.getName().equals(function))
			.iterator()
			.next();
		Method read = new WithoutPackage(hidden).loadClass(ResultType.class.getName())
			.getDeclaredMethod("of", Method.class, Class.class);
		read.setAccessible(true);
		assertThatThrownBy(() -> read.invoke(null, method, SuspendingMethods.class)).cause()
			.hasMessage("Invalid %s on the class path.", message);
	}

	private static @Nullable Object call(Function function) {
		return call(EmptyCoroutineContext.INSTANCE, function);
	}

	private static @Nullable Object call(CoroutineContext context, Function function) {
		try {
			return BuildersKt.runBlocking(context, (scope, caller) -> function.call(caller));
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	@SuppressWarnings("unchecked")
	private static List<String> values(Object flow) {
		List<String> values = new ArrayList<>();
		call((caller) -> FlowKt.toList((Flow<String>) flow, values, caller));
		return values;
	}

	/** A call of a suspend function by Java. */
	@FunctionalInterface
	private interface Function {

		@Nullable Object call(Continuation<Object> caller);

	}

	static class InJava {

		@RateLimited(limits = "1/m")
		public Object call(Continuation<? super String> caller) {
			return "called";
		}

	}

	/** Loads what decides on types again, where a package is missing. */
	private static final class WithoutPackage extends OverridingClassLoader {

		WithoutPackage(String hidden) {
			super(new FilteredClassLoader(hidden));
		}

		@Override
		protected boolean isEligibleForOverriding(String name) {
			return name.startsWith(ResultType.class.getPackageName())
					|| name.startsWith(KotlinDetector.class.getPackageName());
		}

	}

}
