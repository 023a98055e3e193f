package io.github.ratelimit.spring.method;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.ratelimit.Decision;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static io.github.ratelimit.spring.method.LimitedBeans.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * Methods that answer denied calls.
 */
class RateLimitedFallbackTests {

	private final ApplicationContextRunner runner = StarterRunners.inMemory()
		.withPropertyValues("ratelimit.policies.api.limits=1/s");

	@Test
	void fallbackAnswersDeniedCalls() throws Exception {
		run(this.runner, Methods.class, (bean) -> {
			assertThat(bean.same("a")).isEqualTo("called a");
			assertThat(bean.same("b")).isEqualTo("instead of b");
			bean.longer("a");
			assertThat(bean.longer("b")).isEqualTo("b: Rate limit exceeded: Methods.longer (1/m)");
			bean.overloaded(1);
			assertThat(bean.overloaded(2)).isEqualTo("int 2");
			bean.fixed();
			assertThat(bean.fixed()).isEqualTo(42);
			bean.future();
			assertThat(bean.future().get()).isEqualTo("now");
			bean.several("a");
			assertThat(bean.several("b")).isEqualTo("instead of b");
		});
	}

	@Test
	void exceptionsOfMethodAndFallbackAreTheirOwn() {
		run(this.runner, Methods.class, (bean) -> {
			RateLimitExceededException deeper = new RateLimitExceededException(new Decision(false, List.of()));
			assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> bean.failing(deeper))
				.isSameAs(deeper);
			assertThat(bean.failing(deeper)).isEqualTo("instead");
			bean.strict();
			assertThatIOException().isThrownBy(bean::strict).withMessage("too often");
		});
	}

	@Test
	void fallbackIsNotCalledWhenStoreFails() {
		StoreException failure = new StoreException("gone", new IllegalStateException());
		run(this.runner.withBean(PolicyEnforcer.class, () -> new LimitedBeans.Enforcer(() -> {
			throw failure;
		})), Methods.class, (bean) -> assertThatExceptionOfType(StoreException.class).isThrownBy(() -> bean.same("a"))
			.isSameAs(failure));
	}

	@Test
	void fallbackMayStandAboveOrBelowGenericMethod() {
		run(this.runner, Concrete.class, (bean) -> {
			bean.find("a");
			assertThat(bean.find("b")).isEqualTo("private b");
			bean.load("a");
			assertThat(bean.load("b")).isEqualTo("below b");
		});
	}

	@Test
	void fallbackIsCalledOnObjectWhenProxyIsOfInterface() {
		this.runner.withBean(Service.class, ServiceImplementation::new)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> {
				Service bean = context.getBean(Service.class);
				assertThat(AopUtils.isJdkDynamicProxy(bean)).isTrue();
				bean.call(1);
				assertThat(bean.call(2)).isEqualTo("private 2");
				bean.other(1);
				assertThat(bean.other(2)).isEqualTo("default 2");
			});
	}

	static class Methods {

		@RateLimited(limits = "1/m", fallbackMethod = "instead")
		public String same(String text) {
			return "called " + text;
		}

		private String instead(String text) {
			return "instead of " + text;
		}

		@RateLimited(limits = "1/m", fallbackMethod = "insteadLonger")
		public Object longer(String text) {
			return text;
		}

		private String insteadLonger(String text) {
			return "never";
		}

		private String insteadLonger(String text, RateLimitExceededException ex) {
			return text + ": " + ex.getMessage();
		}

		@RateLimited(limits = "1/m", fallbackMethod = "overloaded")
		public String overloaded(int number) {
			return "called";
		}

		public String overloaded(int number, RateLimitExceededException ex) {
			return "int " + number;
		}

		public String overloaded(long number, RateLimitExceededException ex) {
			return "long " + number;
		}

		@RateLimited(limits = "1/m", fallbackMethod = "insteadFixed")
		public int fixed() {
			return 1;
		}

		private static Integer insteadFixed() {
			return 42;
		}

		@RateLimited(limits = "1/m", fallbackMethod = "insteadLater")
		public CompletableFuture<String> future() {
			return new CompletableFuture<>();
		}

		private CompletableFuture<String> insteadLater() {
			return CompletableFuture.completedFuture("now");
		}

		@RateLimited(limits = "1/m", fallbackMethod = "insteadFailing")
		public String failing(RuntimeException ex) {
			throw ex;
		}

		private String insteadFailing(RuntimeException ex) {
			return "instead";
		}

		@RateLimited(limits = "1/m", fallbackMethod = "insteadStrict")
		public void strict() throws IOException {
		}

		private void insteadStrict() throws IOException {
			throw new IOException("too often");
		}

		@RateLimited(limits = "1/m")
		@RateLimited(name = "more", limits = "5/m", fallbackMethod = "instead")
		public String several(String text) {
			return "called";
		}

	}

	abstract static class Generic<T> {

		@RateLimited(limits = "1/m", fallbackMethod = "insteadFind")
		public T find(T key) {
			return key;
		}

		@RateLimited(limits = "1/m", fallbackMethod = "insteadLoad")
		public T load(T key) {
			return key;
		}

		@SuppressWarnings("unchecked")
		private T insteadFind(T key) {
			return (T) ("private " + key);
		}

	}

	static class Concrete extends Generic<String> {

		String insteadLoad(String key) {
			return "below " + key;
		}

	}

	interface Service {

		String call(int number);

		@RateLimited(limits = "1/m", fallbackMethod = "insteadOther")
		String other(int number);

		default String insteadOther(int number) {
			return "default " + number;
		}

	}

	static class ServiceImplementation implements Service {

		@Override
		@RateLimited(limits = "1/m", fallbackMethod = "instead")
		public String call(int number) {
			return "called";
		}

		@Override
		public String other(int number) {
			return "called";
		}

		private String instead(int number) {
			return "private " + number;
		}

	}

}
