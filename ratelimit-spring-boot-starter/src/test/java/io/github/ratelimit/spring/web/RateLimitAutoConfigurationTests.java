package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.decide.Decided;
import io.github.ratelimit.spring.decide.PolicyCharge;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.PipelineRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.LimitHeaders;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.config.AnnotatedPolicies;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitProperties;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RateLimitAutoConfiguration}, {@link RateLimitWebAutoConfiguration} and
 * {@link RateLimitNonWebAutoConfiguration}. No server is contacted.
 */
class RateLimitAutoConfigurationTests {

	private final WebApplicationContextRunner runner = StarterRunners.web();

	private final ApplicationContextRunner nonWebRunner = StarterRunners.nonWeb();

	@Test
	void beansArePresentInWebApplication() {
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(ConfiguredPolicies.class)
				.hasSingleBean(AnnotatedPolicies.class)
				.hasSingleBean(RedisConnections.class)
				.doesNotHaveBean(UnifiedJedis.class)
				.hasSingleBean(PolicyEnforcer.class)
				.hasSingleBean(RateLimitExceededResolver.class);
			assertThat(context.getBean(RateLimiter.class)).isInstanceOf(RedisRateLimiter.class)
				.isSameAs(context.getBean(BlockList.class))
				.isSameAs(context.getBean(RequestHistory.class));
			assertThat(context.getBean(PolicyEnforcer.class)).isInstanceOf(ServletPolicyEnforcer.class);
			assertThat(context.getBean(ConfiguredPolicies.class).defaults().identifiers()).containsExactly("ip");
			assertThat(context.getBean(RateLimitProperties.class).headers().styles()).containsExactly("draft",
					"x-rate-limit");
		});
	}

	@Test
	void beansArePresentInOtherApplication() {
		this.nonWebRunner.run((context) -> assertThat(context).hasSingleBean(RateLimiter.class)
			.hasSingleBean(AnnotatedPolicies.class)
			.hasSingleBean(PolicyEnforcer.class)
			.doesNotHaveBean(ServletPolicyEnforcer.class)
			.doesNotHaveBean(FilterRegistrationBean.class));
	}

	@Test
	void nothingIsConfiguredWhenSwitchedOff() {
		this.runner.withPropertyValues("ratelimit.enabled=false", "ratelimit.policies.api.limits=wrong")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(RateLimiter.class)
				.doesNotHaveBean(AnnotatedPolicies.class)
				.doesNotHaveBean(PolicyEnforcer.class)
				.doesNotHaveBean(UnifiedJedis.class)
				.doesNotHaveBean(FilterRegistrationBean.class));
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void startTellsPrefixOfKeysAndHowToShareCounts(CapturedOutput output) {
		this.runner.withPropertyValues("spring.application.name=orders")
			.run((context) -> assertThat(output).contains(
					"The prefix of Redis keys is the name of the application, 'orders'. Applications share the counts of"
							+ " policies of the same name if they have the same ratelimit.key-prefix"));
		this.runner.run((context) -> assertThat(output).contains(
				"it shares the counts of policies of the same name with other applications without a name on this Redis."
						+ " Set spring.application.name or ratelimit.key-prefix"));
	}

	@Test
	void startFailsWhenThereIsNoClientOfThatName() {
		this.runner.withPropertyValues("ratelimit.redis.client=mine")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.redis.client",
					"Must be the name of a bean of type UnifiedJedis: there is none."));
		this.runner.withBean("other", UnifiedJedis.class, () -> RedisClient.create("127.0.0.1", 1))
			.withPropertyValues("ratelimit.redis.client=mine")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.redis.client", "there are only [other]."));
	}

	@Test
	void startFailsWhenLimitsWrittenInPlaceNeedScripts() {
		this.nonWebRunner.withBean(LimitedByLog.class)
			.withPropertyValues("ratelimit.redis.scripting=false")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage("Invalid algorithm (sliding-log): must be one of fixed-window, first-request-window, "
						+ "sliding-window, sliding-window-counter where scripts are not used."));
	}

	@Test
	void limiterAndClientBackOffWhenApplicationHasLimiter() {
		this.runner.withBean("mine", RateLimiter.class, RateLimitAutoConfigurationTests::memory)
			.run((context) -> assertThat(context).hasSingleBean(RateLimiter.class)
				.hasBean("mine")
				.doesNotHaveBean(UnifiedJedis.class));
	}

	@Test
	void scriptsAreNotUsedWhenSwitchedOff() {
		this.runner.withPropertyValues("ratelimit.redis.scripting=false")
			.run((context) -> assertThat(context.getBean(RateLimiter.class)).isInstanceOf(PipelineRateLimiter.class));
	}

	@Test
	void enforcerOfApplicationIsAsked() {
		this.runner.withBean(Limited.class)
			.withBean("mine", PolicyEnforcer.class, Recorder::new)
			.run(RateLimitAutoConfigurationTests::assertOwnEnforcerIsAsked);
		this.nonWebRunner.withBean(Limited.class)
			.withBean("mine", PolicyEnforcer.class, Recorder::new)
			.run(RateLimitAutoConfigurationTests::assertOwnEnforcerIsAsked);
	}

	private static void assertOwnEnforcerIsAsked(ApplicationContext context) {
		context.getBean(Limited.class).call();
		assertThat(context.getBean(Recorder.class).calls).isEqualTo(1);
	}

	@Test
	void onlyMethodsAreLimitedWhenThereIsNoWebMvc() {
		this.runner.withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(PolicyEnforcer.class)
				.doesNotHaveBean(ServletPolicyEnforcer.class));
	}

	@Test
	void onlyMethodsAreLimitedWithoutAnyWeb() {
		this.nonWebRunner
			.withClassLoader(new FilteredClassLoader("jakarta.servlet", "org.springframework.web",
					"org.springframework.boot.web", "tools.jackson"))
			.withBean(Limited.class)
			.withPropertyValues("ratelimit.policies.api.limits=1/s", "ratelimit.policies.api.identifiers=global")
			.withBean(RateLimiter.class, RateLimitAutoConfigurationTests::memory)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				context.getBean(Limited.class).call();
			});
	}

	@Test
	void applicationNeedsNoSpringSecurity() {
		this.runner.withClassLoader(new FilteredClassLoader("org.springframework.security"))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("rateLimitSecurityFilters"));
		this.runner.run((context) -> assertThat(context).hasBean("rateLimitSecurityFilters"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			draft, x-rate-limit | RateLimit, RateLimit-Policy, X-Rate-Limit-Limit, X-Rate-Limit-Remaining
			x-ratelimit         | X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset
			none                | ''
			''                  | ''
			""")
	void headersAreThoseOfStyles(String styles, String names) {
		this.runner.withPropertyValues("ratelimit.headers.styles=" + styles)
			.run((context) -> assertThat(String.join(", ", new TreeSet<>(context.getBean(LimitHeaders.class).names())))
				.isEqualTo(names));
	}

	private static RateLimiter memory() {
		return new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));
	}

	/** Public, because a proxy is made of it in another class loader. */
	public static class Limited {

		@RateLimited(limits = "1/s", identifiers = "global")
		public void call() {
		}

	}

	public static class LimitedByLog {

		@RateLimited(limits = "1/s", algorithm = "sliding-log", identifiers = "global")
		public void call() {
		}

	}

	static class Recorder implements PolicyEnforcer {

		private int calls;

		@Override
		public Supplier<Decided> prepare(List<PolicyUse> uses) {
			this.calls++;
			return () -> Decided.UNLIMITED;
		}

		@Override
		public Optional<PolicyCharge> charge(PolicyUse use) {
			return Optional.empty();
		}

		@Override
		public void requireKnown(String identifier) {
		}

	}

}
