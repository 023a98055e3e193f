package io.github.ratelimit.spring.method;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import io.github.ratelimit.test.ManualClock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SelfInvocations}: calls that no proxy sees.
 */
@ExtendWith(OutputCaptureExtension.class)
class SelfInvocationsTests {

	private static final String WARNING = " calls its own methods with @RateLimited: ";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitRedisAutoConfiguration.class, RateLimitMethodAutoConfiguration.class,
				RateLimitNonWebAutoConfiguration.class))
		.withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")))
		.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.policies.api.limits=1/s",
				"ratelimit.policies.other.limits=1/s");

	@Test
	void callsOfTheObjectItselfAreFound(CapturedOutput output) {
		this.runner.withBean(Calling.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(Calling.class.getName() + WARNING
				+ "call (from direct), call (from inLambda), call (from otherPolicy), call (from reference),"
				+ " call (from the constructor), inherited (from onSuper), price (from inLambda), price (from withArguments)."
				+ " These calls are not limited; make them from another bean");
	}

	@Test
	void callsOfAnAbstractClassAreFound(CapturedOutput output) {
		this.runner.withBean(Template.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains(Template.class.getName() + WARNING + "step (from run).");
	}

	@Test
	void warningComesOnceForAClass(CapturedOutput output) {
		this.runner.withUserConfiguration(Twice.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(WARNING);
	}

	@Test
	void warningComesForBeansThatAreCreatedLater(CapturedOutput output) {
		this.runner.withBean(Template.class, Template::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(WARNING);
	}

	@ParameterizedTest
	@ValueSource(classes = { OtherObject.class, OfType.class, Paid.class, Overriding.class, NotLimited.class })
	void otherCallsAreNot(Class<?> type, CapturedOutput output) {
		this.runner.withBean(type).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain(WARNING);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void classWithoutAClassFileThatCanBeReadIsNoFailure(boolean exists, CapturedOutput output)
			throws ClassNotFoundException {
		Class<?> type = new HidingLoader(exists).loadClass(Template.class.getName());
		assertThat(type).isNotEqualTo(Template.class);
		RootBeanDefinition definition = new RootBeanDefinition(type);
		definition.setLazyInit(true);
		this.runner
			.withInitializer(
					(context) -> ((GenericApplicationContext) context).registerBeanDefinition("hidden", definition))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain(WARNING);
	}

	static class Base {

		@RateLimited("api")
		public void inherited() {
		}

	}

	static class Calling extends Base {

		Calling() {
			call();
		}

		@RateLimited("api")
		public void call() {
		}

		@RateLimited(policy = "api", costExpression = "#p0")
		public void price(int price, String name) {
		}

		public void direct() {
			call();
		}

		public void withArguments(boolean dear) {
			price(dear ? 2 : 1, String.valueOf(dear));
		}

		public void inLambda() {
			Runnable task = () -> {
				call();
				price(1, "lambda");
			};
			task.run();
		}

		public void reference() {
			Runnable task = this::call;
			task.run();
		}

		@RateLimited("other")
		public void otherPolicy() {
			call();
		}

		public void onSuper() {
			super.inherited();
		}

	}

	abstract static class AbstractTemplate {

		public void run() {
			step();
		}

		public void replaced() {
			step();
		}

		public abstract void step();

	}

	static class Template extends AbstractTemplate {

		@Override
		public void replaced() {
		}

		@Override
		@RateLimited("api")
		public void step() {
		}

	}

	static class OtherObject {

		private final @Nullable OtherObject self;

		private final ObjectProvider<OtherObject> beans;

		OtherObject(@Lazy OtherObject self, ObjectProvider<OtherObject> beans) {
			this.self = self;
			this.beans = beans;
		}

		@RateLimited("api")
		public void call() {
		}

		@RateLimited("api")
		public void call(int cost) {
		}

		public void throughProxy() {
			if (this.self != null) {
				this.self.call();
				this.self.call(1);
				Runnable task = this.self::call;
				task.run();
			}
		}

		public void throughFactory() {
			this.beans.getObject().call();
			this.beans.getObject().call(1);
		}

		public void ofParameter(OtherObject other, boolean own) {
			other.call();
			other.call(1);
			(own ? this : other).call();
			(own ? other : this).call();
			(own ? other : this).call(1);
		}

		public void ofElement(OtherObject[] others) {
			others[0].call(1);
		}

		public void ofSubclass(Below below) {
			below.call(1);
		}

		static void ofStatic(OtherObject other) {
			other.call();
		}

		static class Below extends OtherObject {

			Below(OtherObject self, ObjectProvider<OtherObject> beans) {
				super(self, beans);
			}

		}

	}

	@RateLimited("api")
	static class OfType {

		public void call() {
		}

		public void other() {
			call();
		}

	}

	static class Paid {

		@RateLimited("api")
		public void call() {
			call(1);
		}

		@RateLimited("api")
		public void call(int times) {
			if (times > 0) {
				call(times - 1);
			}
		}

	}

	static class Overriding extends Base {

		@Override
		public void inherited() {
			super.inherited();
		}

	}

	static class NotLimited {

		@RateLimited("api")
		public void call() {
		}

		public void run() {
			done();
		}

		public void done() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Twice {

		@Bean
		Template one() {
			return new Template();
		}

		@Bean
		Template other() {
			return new Template();
		}

	}

	/** Defines the classes of this test itself, and hides the class file. */
	private static final class HidingLoader extends ClassLoader {

		private final boolean exists;

		HidingLoader(boolean exists) {
			super(SelfInvocationsTests.class.getClassLoader());
			this.exists = exists;
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.startsWith(SelfInvocationsTests.class.getName())) {
				return super.loadClass(name, resolve);
			}
			Class<?> loaded = findLoadedClass(name);
			if (loaded != null) {
				return loaded;
			}
			try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
				byte[] bytes = Objects.requireNonNull(file).readAllBytes();
				return defineClass(name, bytes, 0, bytes.length);
			}
			catch (IOException ex) {
				throw new ClassNotFoundException(name, ex);
			}
		}

		@Override
		public @Nullable InputStream getResourceAsStream(String name) {
			return !name.endsWith("Template.class") ? super.getResourceAsStream(name)
					: this.exists ? new ByteArrayInputStream("no class file".getBytes()) : null;
		}

	}

}
