package io.github.ratelimit.spring.method;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.ObservedRateLimiter;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.annotation.AliasFor;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which methods annotations limit, and how several are decided: in an application without
 * web requests.
 */
@ExtendWith(OutputCaptureExtension.class)
class RateLimitedAdvisorTests {

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	private final AtomicInteger decisions = new AtomicInteger();

	private final ApplicationContextRunner runner = StarterRunners.nonWeb()
		.withBean(RateLimiter.class, () -> new ObservedRateLimiter(new MemoryRateLimiter(this.clock),
				(request) -> this.decisions.incrementAndGet(), (request) -> {
				}))
		.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.policies.api.limits=10/s",
				"ratelimit.policies.web.limits=3/s", "ratelimit.policies.web.identifiers=ip");

	@Test
	void annotationsAreDecidedTogetherAllOrNothing() {
		run(this.runner, Several.class, (bean) -> {
			bean.call("a");
			assertDenied(() -> bean.call("a"), "Rate limit exceeded: Several.call (1/m)");
			bean.call("b");
			assertThat(this.decisions).hasValue(3);
			// The denied call used nothing of the total.
			bean.call("c");
			assertDenied(() -> bean.call("d"), "Rate limit exceeded: total (3/m)");
			assertThat(this.decisions).hasValue(5);
		});
	}

	@Test
	void composedAnnotationsAreDecidedTogetherWithDirectOnes() {
		run(this.runner, Composed.class, (bean) -> {
			bean.usual();
			bean.expensive();
			assertDenied(bean::expensive, "Rate limit exceeded: web (3/s)");
			assertDenied(bean::usual, "Rate limit exceeded: web (3/s)");
			assertThat(this.decisions).hasValue(4);
		});
	}

	/** Also if a class inherits the method from one that has not the interface. */
	@Test
	void annotationOfInterfaceCountsUnlessClassReplacesIt() {
		this.runner.withBean(StringSink.class).withBean(Meeting.class).withBean(Overriding.class).run((context) -> {
			Sink<String> bean = context.getBean(StringSink.class);
			bean.put("a");
			bean.put("b");
			assertDenied(() -> bean.put("a"), "Rate limit exceeded: StringSink.put (1/m)");
			bean.flush();
			bean.flush();
			assertDenied(bean::flush, "Rate limit exceeded: StringSink.flush (2/m)");
			Meeting meeting = context.getBean(Meeting.class);
			meeting.put("a");
			assertDenied(() -> meeting.put("a"), "Rate limit exceeded: Meeting.put (1/m)");
			Overriding overriding = context.getBean(Overriding.class);
			overriding.put("a");
			overriding.put("a");
			assertDenied(() -> overriding.put("a"), "Rate limit exceeded: Overriding.put (2/m)");
			assertThat(AopUtils.isAopProxy(context.getBean(RateLimiter.class))).isFalse();
		});
	}

	@Test
	void annotationOfLambdaIsNamedAfterItsInterface() {
		this.runner.withBean(Job.class, () -> () -> {
		}).run((context) -> {
			Job bean = context.getBean(Job.class);
			bean.work();
			assertDenied(bean::work, "Rate limit exceeded: Job.work (1/m)");
		});
	}

	@Test
	void callIsDeniedUntilWindowHasPassed() {
		run(this.runner.withPropertyValues("spring.aop.auto=false"), Methods.class, (bean) -> {
			assertThat(AopUtils.isCglibProxy(bean)).isTrue();
			bean.limited();
			assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(bean::limited)
				.withMessage("Rate limit exceeded: Methods.limited (1/s), Methods.limited (1/m)")
				.satisfies((ex) -> assertThat(ex.getDecision().retryAfter()).hasValue(Duration.ofMinutes(1)));
			assertThat(target(bean).calls).isEqualTo(1);
			this.clock.advance(Duration.ofMinutes(1));
			bean.limited();
			for (int i = 0; i < 9; i++) {
				bean.free();
			}
			assertThat(target(bean).calls).isEqualTo(11);
		});
	}

	@Test
	void typeAnnotationLimitsOtherMethodsThatAreNotPrivate() {
		run(this.runner, Typed.class, (bean) -> {
			bean.own();
			assertDenied(bean::own, "Rate limit exceeded: Typed.own (1/m)");
			bean.packagePrivate();
			bean.guarded();
			assertDenied(bean::packagePrivate, "Rate limit exceeded: Typed (2/m)");
			assertDenied(bean::guarded, "Rate limit exceeded: Typed (2/m)");
			assertDenied(bean::one, "Rate limit exceeded: Typed (2/m)");
		});
	}

	@Test
	void inheritedMethodHasCountForEachClassUnlessNamed() {
		this.runner.withBean("first", First.class).withBean("second", Second.class).run((context) -> {
			First first = context.getBean(First.class);
			Second second = context.getBean(Second.class);
			first.call();
			second.call();
			assertDenied(first::call, "Rate limit exceeded: First.call (1/m)");
			assertDenied(second::call, "Rate limit exceeded: Second.call (1/m)");
			first.named();
			assertDenied(second::named, "Rate limit exceeded: inherited (1/m)");
		});
	}

	@Test
	void startFailsWhenOneCallWouldDecideTooManyLimits() {
		this.runner
			.withPropertyValues("limits=" + list("9/%dm", 9), "identifiers=" + list("#who.charAt(%d)", 14),
					"ratelimit.policies.api.concurrent=9", "ratelimit.policies.api.limits=" + list("9/%dm", 9))
			.withBean(ManyCalls.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage(
						"its policies have 266 limits together, those of each identifier counted separately; there must be at most 256."));
	}

	private static String list(String format, int size) {
		return IntStream.rangeClosed(1, size).mapToObj(format::formatted).collect(Collectors.joining(","));
	}

	@Test
	void advisorDoesNotCreateBeansTooEarly(CapturedOutput output) {
		this.runner.withBean(Methods.class)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> {
				context.getBean(Methods.class).limited();
				assertThat(output).doesNotContain("not eligible for getting processed by all BeanPostProcessors");
			});
	}

	private static Methods target(Methods proxy) {
		return (Methods) AopProxyUtils.getSingletonTarget(proxy);
	}

	static class Several {

		@RateLimited(limits = "1/m", identifiers = "#who")
		@RateLimited(name = "total", limits = "3/m")
		public void call(String who) {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@RateLimited(limits = "4/m")
	@RateLimited(policy = "web", identifiers = "global")
	@interface Usual {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@RateLimited(policy = "web", identifiers = "global")
	@interface Web {

		@AliasFor(annotation = RateLimited.class, attribute = "cost")
		long price() default 1;

	}

	static class Composed {

		@Web(price = 2)
		@RateLimited("api")
		public void expensive() {
		}

		@Usual
		@RateLimited("api")
		public void usual() {
		}

	}

	interface Sink<T> {

		@RateLimited(limits = "1/m", identifiers = "#element")
		void put(T element);

		@RateLimited(limits = "2/m")
		default void flush() {
		}

	}

	static class StringSink implements Sink<String> {

		@Override
		public void put(String named) {
		}

	}

	static class Store {

		public void put(String text) {
		}

	}

	static class Meeting extends Store implements Sink<String> {

	}

	static class Overriding implements Sink<String> {

		@Override
		@RateLimited(limits = "2/m")
		public void put(String element) {
		}

	}

	interface Job {

		@RateLimited(limits = "1/m")
		void work();

	}

	static class Methods {

		int calls;

		@RateLimited(limits = { "1/s", "1/m" })
		public void limited() {
			this.calls++;
		}

		public void free() {
			this.calls++;
		}

	}

	@RateLimited(limits = "2/m")
	static class Typed {

		public void one() {
		}

		void packagePrivate() {
			secret();
		}

		protected void guarded() {
		}

		private void secret() {
		}

		@RateLimited(limits = "1/m")
		public void own() {
		}

	}

	abstract static class Base {

		@RateLimited(limits = "1/m")
		public void call() {
		}

		@RateLimited(name = "inherited", limits = "1/m")
		public void named() {
		}

	}

	static class First extends Base {

	}

	static class Second extends Base {

	}

	static class ManyCalls {

		@RateLimited(name = "one", limits = "${limits}", identifiers = "${identifiers}")
		@RateLimited(policy = "api", identifiers = "${identifiers}")
		public void call(String who) {
		}

	}

}
