package io.github.ratelimit.spring.deployment;

import java.security.Principal;
import java.util.List;
import java.util.function.Consumer;

import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.PolicyLimiter.Use;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitOffAutoConfiguration;
import io.github.ratelimit.spring.method.RateLimitMethodAutoConfiguration;
import io.github.ratelimit.spring.policy.RateLimitPoliciesCustomizer;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import io.github.ratelimit.spring.web.RateLimitWebAutoConfiguration;
import io.github.ratelimit.test.TestRedis;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.apache.catalina.connector.RequestFacade;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.web.context.servlet.AnnotationConfigServletWebApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.AnnotationConfigRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.Compiled;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.security.core.userdetails.User;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application that is prepared ahead of time, as for a native image, and run on the
 * JVM.
 */
@CompileWithForkedClassLoader
class AheadOfTimeIT {

	private final TestGenerationContext generated = new TestGenerationContext();

	@Test
	void limitsAreEnforcedWhenPreparedForANativeImage() {
		String prefix = TestRedis.newKeyPrefix();
		prepare(prefix);
		run(prefix, (context) -> {
			Limited limited = context.getBean(Limited.class);
			assertThat(limited.order(new Order(), new Stranger())).isEqualTo("ordered");
			assertThat(limited.order(new Order(), new Stranger())).isEqualTo("instead");
			assertThat(limited.call()).isEqualTo("called");
			assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(limited::call)
				.withMessage("Rate limit exceeded: api (1/d)");
			PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
			assertThat(limiter.tryAcquire(Use.of("declared").withCost(3)).allowed()).isTrue();
			assertThat(limiter.tryAcquire("declared").allowed()).isFalse();
		});
		assertThat(this.generated.getRuntimeHints())
			.matches(RuntimeHintsPredicates.reflection().onMethodInvocation(Limited.class, "instead"))
			.matches(RuntimeHintsPredicates.reflection().onMethodInvocation(Order.class, "getCustomer"))
			.matches(RuntimeHintsPredicates.reflection().onMethodInvocation(Order.class, "getLines"))
			.matches(RuntimeHintsPredicates.reflection().onMethodInvocation(Customer.class, "name"))
			.matches(RuntimeHintsPredicates.reflection().onMethodInvocation(Line.class, "price"))
			.matches(RuntimeHintsPredicates.reflection()
				.onType(String.class)
				.withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
			.matches(RuntimeHintsPredicates.reflection().onFieldAccess(Customer.class, "tenant"))
			.matches(RuntimeHintsPredicates.reflection()
				.onType(Stranger.class)
				.withAnyMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS)
				.negate());
	}

	@Test
	void configuredExpressionsHaveHintsForNativeImage() {
		AnnotationConfigServletWebApplicationContext context = new AnnotationConfigServletWebApplicationContext();
		TestPropertyValues
			.of("ratelimit.policies.api.plans.pro.limits=9/d",
					"ratelimit.identifiers.tenant=#request.getHeader('X-Tenant').toLowerCase()",
					"ratelimit.identifiers.account=#principal.account", "ratelimit.plan=#principal.username")
			.applyTo(context);
		prepare(context, TestRedis.newKeyPrefix(), WebApplication.class);
		assertThat(this.generated.getRuntimeHints())
			.matches(RuntimeHintsPredicates.reflection().onMethodInvocation(HttpServletRequest.class, "getHeader"))
			.matches(RuntimeHintsPredicates.reflection()
				.onMethodInvocation(HttpServletRequestWrapper.class, "getHeader"))
			.matches(RuntimeHintsPredicates.reflection().onMethodInvocation(RequestFacade.class, "getHeader"))
			.matches(RuntimeHintsPredicates.reflection().onMethodInvocation(User.class, "getUsername"))
			.matches(RuntimeHintsPredicates.reflection()
				.onType(String.class)
				.withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
			.matches(RuntimeHintsPredicates.reflection().onType(Principal.class).negate());
	}

	@Test
	void startFailsWhenLimitsWereOffAheadOfTime() {
		assertRefused("ratelimit.enabled=false", "ratelimit.enabled=true");
	}

	/** Which beans there are is decided when it is prepared. */
	@Test
	void startFailsWhenPropertySaysOtherwiseThanAheadOfTime() {
		assertRefused("test=", "ratelimit.enabled=false", "ratelimit.redis.scripting=false",
				"ratelimit.denial-cache.enabled=false", "ratelimit.most-denied.enabled=false");
	}

	private void assertRefused(String before, String... now) {
		String prefix = TestRedis.newKeyPrefix();
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		TestPropertyValues.of(before).applyTo(context);
		prepare(context, prefix, Switched.class);
		TestCompiler.forSystem().with(this.generated).compile((compiled) -> {
			run(compiled, prefix, before, (started) -> assertThat(started.isActive()).isTrue());
			for (String each : now) {
				assertThatExceptionOfType(BeanCreationException.class)
					.isThrownBy(() -> run(compiled, prefix, each, (started) -> {
					}))
					.havingRootCause()
					.isInstanceOf(InvalidConfigurationPropertyValueException.class)
					.withMessageContainingAll(each.replaceFirst("=.*", ""), "prepared ahead of time");
			}
		});
	}

	private void prepare(String prefix) {
		prepare(new AnnotationConfigApplicationContext(), prefix, Application.class);
	}

	private <C extends GenericApplicationContext & AnnotationConfigRegistry> void prepare(C context, String prefix,
			Class<?> configuration) {
		setProperties(context, prefix);
		context.register(configuration);
		new ApplicationContextAotGenerator().processAheadOfTime(context, this.generated);
		this.generated.writeGeneratedContent();
	}

	private void run(String prefix, Consumer<GenericApplicationContext> test) {
		TestCompiler.forSystem().with(this.generated).compile((compiled) -> run(compiled, prefix, "test=", test));
	}

	private static void run(Compiled compiled, String prefix, String property,
			Consumer<GenericApplicationContext> test) {
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			setProperties(context, prefix);
			TestPropertyValues.of(property).applyTo(context);
			initializer(compiled).initialize(context);
			context.refresh();
			test.accept(context);
		}
	}

	@SuppressWarnings("unchecked")
	private static ApplicationContextInitializer<GenericApplicationContext> initializer(Compiled compiled) {
		return compiled.getInstance(ApplicationContextInitializer.class);
	}

	private static void setProperties(GenericApplicationContext context, String prefix) {
		TestPropertyValues
			.of("ratelimit.redis.url=" + TestRedis.uri(), "ratelimit.redis.timeout=20s",
					"ratelimit.key-prefix=" + prefix, "ratelimit.policies.api.limits=1/d",
					"ratelimit.policies.api.identifiers=global", "orders.limit=5/d")
			.applyTo(context);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RateLimitAutoConfiguration.class, RateLimitRedisAutoConfiguration.class,
			RateLimitMethodAutoConfiguration.class, RateLimitWebAutoConfiguration.class })
	static class WebApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ RateLimitOffAutoConfiguration.class, RateLimitAutoConfiguration.class,
			RateLimitRedisAutoConfiguration.class, RateLimitMethodAutoConfiguration.class,
			RateLimitNonWebAutoConfiguration.class })
	static class Switched {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Switched.class)
	static class Application {

		@Bean
		RateLimitPoliciesCustomizer policies() {
			return (policies) -> policies.add("declared")
				.identifiers("global")
				.limits("1/d")
				.algorithm(new TokenBucket(3L));
		}

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

		@RateLimited(name = "orders", limits = "${orders.limit}",
				identifiers = "#order.customer.name().toLowerCase()+#order.customer.tenant",
				costExpression = "#order.lines[0].price", fallbackMethod = "instead")
		public String order(Order order, Stranger stranger) {
			return "ordered";
		}

		private String instead(Order order, Stranger stranger) {
			return "instead";
		}

	}

	public static class Order {

		public Customer getCustomer() {
			return new Customer();
		}

		public List<Line> getLines() {
			return List.of(new Line(4));
		}

	}

	public static class Customer {

		public final String tenant = "acme";

		public String name() {
			return "Anna";
		}

	}

	public record Line(long price) {

	}

	/** No expression says anything of this one. */
	public static class Stranger {

	}

}
