package io.github.ratelimit.spring.method;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Several annotations of one method, and where annotations are found.
 */
class RateLimitedRepeatedTests {

	private final AtomicInteger decisions = new AtomicInteger();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitRedisAutoConfiguration.class, RateLimitMethodAutoConfiguration.class,
				RateLimitNonWebAutoConfiguration.class))
		.withBean(RateLimiter.class,
				() -> new Counting(new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")), this.decisions))
		.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.policies.api.limits=10/s",
				"ratelimit.policies.web.limits=3/s");

	@Test
	void annotationsAreDecidedTogetherAllOrNothing() {
		this.runner.withBean(Several.class).run((context) -> {
			Several bean = context.getBean(Several.class);
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
		this.runner.withBean(Composed.class).run((context) -> {
			Composed bean = context.getBean(Composed.class);
			bean.call();
			bean.call();
			assertDenied(bean::call, "Rate limit exceeded: Composed.call (2/m)");
			assertThat(this.decisions).hasValue(3);
			assertDenied(bean::expensive, "Rate limit exceeded: web (3/s)");
		});
	}

	@Test
	void annotationMayBeComposedOfSeveral() {
		this.runner.withBean(Composed.class).run((context) -> {
			Composed bean = context.getBean(Composed.class);
			for (int i = 0; i < 3; i++) {
				bean.usual();
			}
			assertDenied(bean::usual, "Rate limit exceeded: web (3/s)");
			assertThat(this.decisions).hasValue(4);
		});
	}

	@Test
	void annotationsOfTypeAreDecidedTogether() {
		this.runner.withBean(OnType.class).run((context) -> {
			OnType bean = context.getBean(OnType.class);
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
		this.runner.withBean(StringSink.class).run((context) -> {
			StringSink bean = context.getBean(StringSink.class);
			bean.flush();
			assertDenied(bean::flush, "Rate limit exceeded: StringSink.flush (2/m)", 1);
		});
	}

	@Test
	void annotationOfInterfaceCountsWhenMethodComesFromClassThatKnowsNothingOfIt() {
		this.runner.withBean(Meeting.class).run((context) -> {
			Meeting bean = context.getBean(Meeting.class);
			bean.put("a");
			assertDenied(() -> bean.put("a"), "Rate limit exceeded: Meeting.put (1/m)");
		});
	}

	@Test
	void annotationOfClassReplacesThatOfInterface() {
		this.runner.withBean(Overriding.class).run((context) -> {
			Overriding bean = context.getBean(Overriding.class);
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

	private static void assertDenied(Runnable call, String message) {
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(call::run).withMessage(message);
	}

	private static void assertDenied(Runnable call, String message, int after) {
		for (int i = 0; i < after; i++) {
			call.run();
		}
		assertDenied(call, message);
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

	private record Counting(RateLimiter limiter, AtomicInteger decisions) implements RateLimiter {

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			this.decisions.incrementAndGet();
			return this.limiter.tryAcquire(request);
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			return this.limiter.peek(request);
		}

		@Override
		public void charge(RateLimitRequest request) {
			this.limiter.charge(request);
		}

		@Override
		public void refund(RateLimitRequest request) {
			this.limiter.refund(request);
		}

		@Override
		public void reset(Policy policy, Identifier identifier) {
			this.limiter.reset(policy, identifier);
		}

	}

}
