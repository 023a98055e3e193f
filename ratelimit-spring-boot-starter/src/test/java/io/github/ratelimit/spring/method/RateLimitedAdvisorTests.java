package io.github.ratelimit.spring.method;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;

import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;

import static io.github.ratelimit.spring.method.LimitedBeans.assertDenied;
import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RateLimitedAdvisor}, in an application without web requests.
 */
class RateLimitedAdvisorTests {

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	private final ApplicationContextRunner runner = StarterRunners.inMemory(this.clock);

	@Test
	void callIsDeniedWhenLimitOfMethodIsUsedUp() {
		run(this.runner, Methods.class, (bean) -> {
			assertThat(AopUtils.isCglibProxy(bean)).isTrue();
			bean.limited();
			bean.limited();
			assertDenied(bean::limited, "Rate limit exceeded: Methods.limited (2/m)");
			assertThat(target(bean).calls).isEqualTo(2);
		});
	}

	@Test
	void exceptionCarriesDecision() {
		run(this.runner, Methods.class, (bean) -> {
			bean.limited();
			bean.limited();
			assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(bean::limited).satisfies((ex) -> {
				assertThat(ex.getDecision().allowed()).isFalse();
				assertThat(ex.getDecision().retryAfter()).hasValue(Duration.ofMinutes(1));
				assertThat(ex.getDecision().violated()).singleElement()
					.extracting(LimitStatus::policy)
					.hasFieldOrPropertyWithValue("name", "Methods.limited");
			});
		});
	}

	@Test
	void messageNamesEveryViolatedLimit() {
		run(this.runner, Methods.class, (bean) -> {
			bean.limitedTwice();
			assertDenied(bean::limitedTwice,
					"Rate limit exceeded: Methods.limitedTwice (1/s), Methods.limitedTwice (1/m)");
		});
	}

	@Test
	void callIsAllowedAgainWhenWindowHasPassed() {
		run(this.runner, Methods.class, (bean) -> {
			bean.limited();
			bean.limited();
			this.clock.advance(Duration.ofMinutes(1));
			bean.limited();
			assertThat(target(bean).calls).isEqualTo(3);
		});
	}

	@Test
	void methodIsUntouchedWhenItHasNoAnnotation() {
		this.runner.withBean(Methods.class).withBean(Plain.class).run((context) -> {
			Methods bean = context.getBean(Methods.class);
			for (int i = 0; i < 10; i++) {
				bean.free();
			}
			assertThat(target(bean).calls).isEqualTo(10);
			assertThat(AopUtils.isAopProxy(context.getBean(Plain.class))).isFalse();
		});
	}

	@Test
	void everyCallCountsItsCost() {
		run(this.runner, Methods.class, (bean) -> {
			bean.expensive();
			assertDenied(bean::expensive, "Rate limit exceeded: Methods.expensive (5/m)");
		});
	}

	@Test
	void methodsShareCountWhenTheyNameOnePolicy() {
		this.runner.withBean(Named.class).withPropertyValues("ratelimit.policies.shared.limits=2/m").run((context) -> {
			Named bean = context.getBean(Named.class);
			bean.named();
			bean.alsoNamed();
			assertDenied(bean::named, "Rate limit exceeded: shared (2/m)");
			assertDenied(bean::alsoNamed, "Rate limit exceeded: shared (2/m)");
		});
	}

	@Test
	void identifiersOfAnnotationReplaceThoseOfPolicy() {
		this.runner.withBean(Overriding.class)
			.withPropertyValues("ratelimit.policies.shared.limits=2/m", "ratelimit.policies.shared.identifiers=ip")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				Overriding bean = context.getBean(Overriding.class);
				bean.call();
				bean.call();
				assertDenied(bean::call, "Rate limit exceeded: shared (2/m)");
			});
	}

	@Test
	void methodsShareCountWhenTypeIsAnnotated() {
		run(this.runner, Typed.class, (bean) -> {
			bean.one();
			bean.two();
			assertDenied(bean::one, "Rate limit exceeded: Typed (2/m)");
			assertDenied(bean::two, "Rate limit exceeded: Typed (2/m)");
		});
	}

	@Test
	void annotationOfMethodReplacesThatOfType() {
		run(this.runner, Typed.class, (bean) -> {
			bean.own();
			assertDenied(bean::own, "Rate limit exceeded: Typed.own (1/m)");
			bean.one();
			bean.two();
		});
	}

	@Test
	void methodIsLimitedWhenTypeIsAnnotatedAndMethodIsNotPrivate() {
		run(this.runner, Typed.class, (bean) -> {
			bean.packagePrivate();
			bean.guarded();
			assertDenied(bean::packagePrivate, "Rate limit exceeded: Typed (2/m)");
			assertDenied(bean::guarded, "Rate limit exceeded: Typed (2/m)");
			assertDenied(bean::one, "Rate limit exceeded: Typed (2/m)");
		});
	}

	@Test
	void methodIsFreeWhenItIsStaticOrOfObject() {
		run(this.runner, Typed.class, (bean) -> {
			for (int i = 0; i < 5; i++) {
				assertThat(bean).hasToString("typed");
				assertThat(Typed.fixed()).isEqualTo(1);
			}
			bean.one();
		});
	}

	@Test
	void composedAnnotationCounts() {
		run(this.runner, Composed.class, (bean) -> {
			bean.call();
			assertDenied(bean::call, "Rate limit exceeded: Composed.call (3/h)");
		});
	}

	@Test
	void inheritedMethodHasOneCountForEachClass() {
		this.runner.withBean("first", First.class).withBean("second", Second.class).run((context) -> {
			First first = context.getBean(First.class);
			Second second = context.getBean(Second.class);
			first.call();
			second.call();
			assertDenied(first::call, "Rate limit exceeded: First.call (1/m)");
			assertDenied(second::call, "Rate limit exceeded: Second.call (1/m)");
		});
	}

	private static Methods target(Methods proxy) {
		return (Methods) AopProxyUtils.getSingletonTarget(proxy);
	}

	static class Methods {

		int calls;

		@RateLimited(limits = "2/m")
		public void limited() {
			this.calls++;
		}

		@RateLimited(limits = { "1/s", "1/m" })
		public void limitedTwice() {
			this.calls++;
		}

		@RateLimited(limits = "5/m", cost = 3, algorithm = "fixed-window")
		public void expensive() {
			this.calls++;
		}

		public void free() {
			this.calls++;
		}

	}

	static class Plain {

	}

	static class Named {

		@RateLimited("shared")
		public void named() {
		}

		@RateLimited(policy = "shared")
		public void alsoNamed() {
		}

	}

	static class Overriding {

		@RateLimited(policy = "shared", identifiers = "global")
		public void call() {
		}

	}

	@RateLimited(limits = "2/m")
	static class Typed {

		public void one() {
		}

		public void two() {
		}

		void packagePrivate() {
			secret();
		}

		protected void guarded() {
		}

		private void secret() {
		}

		static int fixed() {
			return 1;
		}

		@Override
		public String toString() {
			return "typed";
		}

		@RateLimited(limits = "1/m")
		public void own() {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@RateLimited(limits = "3/h")
	@interface Costly {

		@AliasFor(annotation = RateLimited.class)
		long cost() default 2;

	}

	static class Composed {

		@Costly
		public void call() {
		}

	}

	abstract static class Base {

		@RateLimited(limits = "1/m")
		public void call() {
		}

	}

	static class First extends Base {

	}

	static class Second extends Base {

	}

}
