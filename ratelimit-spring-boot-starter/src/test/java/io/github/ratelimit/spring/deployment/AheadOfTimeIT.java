package io.github.ratelimit.spring.deployment;

import java.util.function.Consumer;

import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.autoconfigure.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.Compiled;
import org.springframework.core.test.tools.TestCompiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application that is prepared ahead of time, as for a native image, and run on the
 * JVM.
 */
class AheadOfTimeIT {

	private final TestGenerationContext generated = new TestGenerationContext();

	@Test
	void limitsAreEnforcedInApplicationThatIsPreparedAheadOfTime() {
		String prefix = TestRedis.newKeyPrefix();
		prepare(prefix);
		run(prefix, (context) -> {
			Limited limited = context.getBean(Limited.class);
			assertThat(limited.call()).isEqualTo("called");
			assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(limited::call)
				.withMessage("Rate limit exceeded: api (1/d)");
		});
		RuntimeHints hints = this.generated.getRuntimeHints();
		assertThat(RuntimeHintsPredicates.resource().forResource("io/github/ratelimit/redis/driver.lua"))
			.accepts(hints);
	}

	private void prepare(String prefix) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		setProperties(context, prefix);
		context.register(Application.class);
		new ApplicationContextAotGenerator().processAheadOfTime(context, this.generated);
		this.generated.writeGeneratedContent();
	}

	private void run(String prefix, Consumer<GenericApplicationContext> test) {
		TestCompiler.forSystem().with(this.generated).compile((Compiled compiled) -> {
			try (GenericApplicationContext context = new GenericApplicationContext()) {
				setProperties(context, prefix);
				initializer(compiled).initialize(context);
				context.refresh();
				test.accept(context);
			}
		});
	}

	@SuppressWarnings("unchecked")
	private static ApplicationContextInitializer<GenericApplicationContext> initializer(Compiled compiled) {
		return compiled.getInstance(ApplicationContextInitializer.class);
	}

	private static void setProperties(GenericApplicationContext context, String prefix) {
		TestPropertyValues
			.of("ratelimit.redis.url=" + TestRedis.uri(), "ratelimit.redis.timeout=20s",
					"ratelimit.key-prefix=" + prefix, "ratelimit.policies.api.limits=1/d",
					"ratelimit.policies.api.identifiers=global")
			.applyTo(context);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RateLimitAutoConfiguration.class, RateLimitNonWebAutoConfiguration.class })
	static class Application {

		@Bean
		Limited limited() {
			return new Limited();
		}

	}

	static class Limited {

		@RateLimited("api")
		String call() {
			return "called";
		}

	}

}
