package io.github.ratelimit.spring.method;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.ObservedRateLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several annotations of one method, and where annotations are found.
 */
class RateLimitedRepeatedTests {

	private final AtomicInteger decisions = new AtomicInteger();

	private final ApplicationContextRunner runner = StarterRunners.nonWeb()
		.withBean(RateLimiter.class,
				() -> new ObservedRateLimiter(new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")),
						(request) -> this.decisions.incrementAndGet(), (request) -> {
						}))
		.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.policies.api.limits=10/s",
				"ratelimit.policies.web.limits=3/s");

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
			bean.call();
			bean.call();
			assertDenied(bean::call, "Rate limit exceeded: Composed.call (2/m)");
			assertThat(this.decisions).hasValue(3);
			assertDenied(bean::expensive, "Rate limit exceeded: web (3/s)");
		});
	}

	@Test
	void annotationMayBeComposedOfSeveral() {
		run(this.runner, Composed.class, (bean) -> {
			for (int i = 0; i < 3; i++) {
				bean.usual();
			}
			assertDenied(bean::usual, "Rate limit exceeded: web (3/s)");
			assertThat(this.decisions).hasValue(4);
		});
	}

	@Test
	void annotationsOfTypeAreDecidedTogether() {
		run(this.runner, OnType.class, (bean) -> {
			bean.one();
			assertDenied(bean::two, "Rate limit exceeded: OnType (1/m)");
			assertThat(this.decisions).hasValue(2);
		});
	}

	@Test
	void startFailsWhenPolicyStandsTwice() {
		assertRefused(Twice.class, "the policy 'api' is used twice.");
		assertRefused(TwiceComposed.class, "the policy 'web' is used twice.");
	}

	@Test
	void startFailsWhenPoliciesHaveMoreLimitsThanOneCallDecides() {
		this.runner.withPropertyValues("limits=" + list("9/%dm", 20), "identifiers=" + list("#who.charAt(%d)", 7))
			.withBean(Many.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage(
						"its policies have 280 limits together, those of each identifier counted separately; there must be at most 256."));
	}

	@Test
	void concurrentCallsAreLimitsToo() {
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
	void startFailsWhenTwoPoliciesInPlaceHaveNoName() {
		assertRefused(Nameless.class,
				"several of its annotations have limits and no name; give all but one of them a name.");
	}

	@Test
	void startFailsWhenNamesMeet() {
		assertRefused(SameName.class,
				"its policy would be named 'mine', a name that public void " + SameName.class.getName()
						+ ".two() already uses; give one of them another name.",
				"its policy would be named 'mine', a name that public void " + SameName.class.getName()
						+ ".one() already uses; give one of them another name.");
		assertRefused(NameOfPolicy.class,
				"its policy would be named 'api', a name that ratelimit.policies already uses; give one of them another name.");
		assertRefused(NameBesidePolicy.class,
				"Invalid name (x): the policy 'api' is from the configuration; remove the name, or the policy.");
	}

	@Test
	void namedPolicyIsSharedByThoseWhoInheritIt() {
		this.runner.withBean("one", HeirOne.class).withBean("two", HeirTwo.class).run((context) -> {
			context.getBean(HeirOne.class).call();
			assertDenied(context.getBean(HeirTwo.class)::call, "Rate limit exceeded: inherited (1/m)");
		});
	}

	@Test
	void annotationOfGenericInterfaceCounts() {
		this.runner.withBean(StringSink.class).run((context) -> {
			Sink<String> bean = context.getBean(StringSink.class);
			bean.put("a");
			bean.put("b");
			assertDenied(() -> bean.put("a"), "Rate limit exceeded: StringSink.put (1/m)");
		});
	}

	@Test
	void annotationOfDefaultMethodCounts() {
		run(this.runner, StringSink.class, (bean) -> {
			bean.flush();
			bean.flush();
			assertDenied(bean::flush, "Rate limit exceeded: StringSink.flush (2/m)");
		});
	}

	@Test
	void annotationOfInterfaceCountsWhenMethodComesFromClassThatKnowsNothingOfIt() {
		run(this.runner, Meeting.class, (bean) -> {
			bean.put("a");
			assertDenied(() -> bean.put("a"), "Rate limit exceeded: Meeting.put (1/m)");
		});
	}

	@Test
	void annotationOfClassReplacesThatOfInterface() {
		run(this.runner, Overriding.class, (bean) -> {
			bean.put("a");
			bean.put("a");
			assertDenied(() -> bean.put("a"), "Rate limit exceeded: Overriding.put (2/m)");
		});
	}

	@Test
	void startFailsWhenAnnotationsOfTwoInterfacesAreAsNear() {
		this.runner.withBean(Torn.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.message()
				.contains("there is another on public abstract void ")
				.endsWith("annotate that class or its method instead."));
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

	private void assertRefused(Class<?> type, String... reasons) {
		this.runner.withBean(type)
			.run((context) -> assertThat(context).getFailure().rootCause().message().isIn((Object[]) reasons));
	}

	static class Several {

		@RateLimited(limits = "1/m", identifiers = "#who")
		@RateLimited(name = "total", limits = "3/m")
		public void call(String who) {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@RateLimited(limits = "4/m")
	@RateLimited("web")
	@interface Usual {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@RateLimited("web")
	@interface Web {

		@AliasFor(annotation = RateLimited.class, attribute = "cost")
		long price() default 1;

	}

	static class Composed {

		@Web
		@RateLimited(limits = "2/m")
		public void call() {
		}

		@Web(price = 2)
		@RateLimited("api")
		public void expensive() {
		}

		@Usual
		@RateLimited("api")
		public void usual() {
		}

	}

	@RateLimited(limits = "1/m")
	@RateLimited("api")
	static class OnType {

		public void one() {
		}

		public void two() {
		}

	}

	static class Many {

		@RateLimited(name = "one", limits = "${limits}", identifiers = "${identifiers}")
		@RateLimited(name = "two", limits = "${limits}", identifiers = "${identifiers}")
		public void call(String who) {
		}

	}

	static class ManyCalls {

		@RateLimited(name = "one", limits = "${limits}", identifiers = "${identifiers}")
		@RateLimited(policy = "api", identifiers = "${identifiers}")
		public void call(String who) {
		}

	}

	static class Twice {

		@RateLimited("api")
		@RateLimited(policy = "api", cost = 2)
		public void call() {
		}

	}

	static class TwiceComposed {

		@Web
		@RateLimited("web")
		public void call() {
		}

	}

	static class Nameless {

		@RateLimited(limits = "1/s")
		@RateLimited(limits = "2/m")
		public void call() {
		}

	}

	static class SameName {

		@RateLimited(name = "mine", limits = "1/s")
		public void one() {
		}

		@RateLimited(name = "mine", limits = "1/s")
		public void two() {
		}

	}

	static class NameOfPolicy {

		@RateLimited(name = "api", limits = "1/s")
		public void call() {
		}

	}

	static class NameBesidePolicy {

		@RateLimited(policy = "api", name = "x")
		public void call() {
		}

	}

	abstract static class Ancestor {

		@RateLimited(name = "inherited", limits = "1/m")
		public void call() {
		}

	}

	static class HeirOne extends Ancestor {

	}

	static class HeirTwo extends Ancestor {

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

	interface Other {

		@RateLimited("api")
		void put(String element);

	}

	static class Torn implements Sink<String>, Other {

		@Override
		public void put(String element) {
		}

	}

	interface Job {

		@RateLimited(limits = "1/m")
		void work();

	}

}
