package io.github.ratelimit.spring.web;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.TreeSet;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.LimitHeaders;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.config.AnnotatedPolicies;
import io.github.ratelimit.spring.config.RateLimitAutoConfiguration;
import io.github.ratelimit.spring.config.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.security.web.FilterChainProxy;
import org.springframework.web.servlet.DispatcherServlet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RateLimitAutoConfiguration}, {@link RateLimitWebAutoConfiguration} and
 * {@link RateLimitNonWebAutoConfiguration}: what they configure, where the filters stand,
 * and beans that cannot be. The table {@code start-failures.csv} has the properties that
 * stop the start. No server is contacted.
 */
@ExtendWith(OutputCaptureExtension.class)
class RateLimitAutoConfigurationTests {

	private final WebApplicationContextRunner runner = StarterRunners.web();

	private final ApplicationContextRunner nonWebRunner = StarterRunners.nonWeb();

	private final WebApplicationContextRunner secured = this.runner.withBean(FilterChainProxy.class)
		.withPropertyValues("ratelimit.policies.api.limits=1/s", "ratelimit.policies.api.paths=/**");

	private final WebApplicationContextRunner identified = this.runner
		.withBean("plan", IdentifierResolver.class, () -> (request) -> "x")
		.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.paths=/api/**");

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
		this.runner.withBean("other", UnifiedJedis.class, () -> RedisClient.create("127.0.0.1", 1))
			.withPropertyValues("ratelimit.redis.client=mine")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.redis.client", "there are only [other]."));
	}

	@Test
	void startFailsWhenLimitsWrittenInPlaceNeedScripts() {
		this.nonWebRunner.withBean(Limited.class)
			.withPropertyValues("ratelimit.redis.scripting=false")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage("Invalid algorithm (sliding-log): must be one of fixed-window, first-request-window, "
						+ "sliding-window, sliding-window-counter where scripts are not used."));
	}

	@Test
	void startFailsWhenMethodHasNotTheIdentifiersToReset() {
		this.runner.withBean(Login.class)
			.withPropertyValues("ratelimit.policies.login.limits=5/m", "ratelimit.policies.login.reset=ip+user",
					"ratelimit.policies.login.identifiers=ip+user",
					"ratelimit.policies.login.reset-when=status in [200]")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage("Invalid reset [ip+user]: must be among the identifiers [user]."));
	}

	@Test
	void limiterAndClientBackOffWhenApplicationHasLimiter() {
		this.runner.withBean("mine", RateLimiter.class, RateLimitAutoConfigurationTests::memory)
			.run((context) -> assertThat(context).hasSingleBean(RateLimiter.class)
				.hasBean("mine")
				.doesNotHaveBean(UnifiedJedis.class));
		this.runner
			.run((context) -> assertThat(context).hasSingleBean(RateLimiter.class).doesNotHaveBean(UnifiedJedis.class));
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

	@ParameterizedTest
	@CsvSource({ "a=b, -110, -90", "spring.security.filter.order=0, -10, 10",
			"ratelimit.filter.before-login-order=-300, -300, -90", "ratelimit.filter.after-login-order=7, -110, 7" })
	void filtersStandBeforeAndAfterSecurityOrWhereConfigured(String property, int before, int after) {
		this.runner.withPropertyValues(property).run((context) -> {
			assertThat(filter(context, "rateLimitFilterBeforeSecurity").getOrder()).isEqualTo(before);
			assertThat(filter(context, "rateLimitFilterAfterSecurity").getOrder()).isEqualTo(after);
		});
	}

	@Test
	void startFailsOnlyWhenSecondFilterNeedsUnknownUsers() {
		WebApplicationContextRunner early = this.secured.withPropertyValues("ratelimit.filter.after-login-order=-105");
		early.run((context) -> assertThat(context).hasNotFailed());
		early.withPropertyValues("ratelimit.policies.api.identifiers=user")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidConfigurationPropertyValueException.class)
				.hasMessageContainingAll("ratelimit.filter.after-login-order", "-105",
						"spring.security.filter.order (-100)", "[api]"));
	}

	@ParameterizedTest
	@CsvSource({ "-100, true", "-95, true", "-101, false" })
	void failedLoginsThatAreNotCountedAreLogged(int order, boolean logged, CapturedOutput output) {
		this.secured.withPropertyValues("ratelimit.filter.before-login-order=" + order)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output.toString()
			.contains(
					"Failed logins are not counted: ratelimit.filter.before-login-order (%d) is not less than spring.security.filter.order (-100)"
						.formatted(order)))
			.isEqualTo(logged);
	}

	@ParameterizedTest
	@ValueSource(strings = { "rateLimitFilterBeforeSecurity", "rateLimitFilterAfterSecurity" })
	void filterIsOffWhenNoPolicyHasPaths(String name) {
		this.runner.withPropertyValues("ratelimit.policies.api.limits=1/s")
			.run((context) -> assertThat(filter(context, name).isEnabled()).isFalse());
	}

	private static FilterRegistrationBean<?> filter(AssertableWebApplicationContext context, String name) {
		return context.getBean(name, FilterRegistrationBean.class);
	}

	@Test
	void startFailsWhenBeanAndExpressionHaveOneName() {
		this.identified.withPropertyValues("ratelimit.identifiers.plan=#principal.name")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.identifiers.plan",
					"There is a bean of type IdentifierResolver with the name 'plan' as well: remove one of them."));
	}

	@ParameterizedTest
	@CsvSource({ "header:X Key:s3cr3t, header:X Key:***", "headr:X-Key:s3cr3t, headr:X-Key:***",
			"cookie::s3cr3t, cookie::***" })
	void secretOfEntryIsNotShown(String entry, String shown) {
		this.identified.withPropertyValues("ratelimit.allow=" + entry).run((context) -> {
			assertThat(StartFailure.refusal(context).getValue()).isEqualTo(shown);
			StringWriter trace = new StringWriter();
			context.getStartupFailure().printStackTrace(new PrintWriter(trace));
			assertThat(trace.toString()).doesNotContain("s3cr3t");
		});
	}

	@Test
	void policyThatIsABeanStopsTheStart() {
		IdentifiedPolicy search = new IdentifiedPolicy(Policy.of("search", new SlidingWindow(), Limit.parse("1/s")),
				List.of("ip"));
		this.nonWebRunner.withBean("search", Policy.class, search::policy)
			.run((context) -> assertNoBean(context, "Policy"));
		this.nonWebRunner.withBean("search", IdentifiedPolicy.class, () -> search)
			.run((context) -> assertNoBean(context, "IdentifiedPolicy"));
	}

	private static void assertNoBean(AssertableApplicationContext context, String type) {
		assertThat(context).getFailure()
			.rootCause()
			.hasMessageContaining("Invalid bean 'search' of type %s: it has no effect, because policies are not beans."
				.formatted(type));
	}

	@ParameterizedTest
	@CsvSource({ "ratelimit.redis.scripting=false, PipelineRateLimiter",
			"ratelimit.denial-cache.enabled=false, RedisRateLimiter" })
	void redisIsAskedEachTimeUnlessDenialsMayBeRemembered(String property, String limiter) {
		this.runner.withPropertyValues(property).run((context) -> {
			assertThat(context).hasSingleBean(RedisConnections.class).doesNotHaveBean(DenialCache.class);
			assertThat(context.getBean(RateLimiter.class).getClass().getSimpleName()).isEqualTo(limiter);
		});
	}

	private static RateLimiter memory() {
		return new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z"));
	}

	/** Public, because a proxy is made of it in another class loader. */
	public static class Limited {

		@RateLimited(limits = "1/s", algorithm = "sliding-log", identifiers = "global")
		public void call() {
		}

	}

	static class Login {

		@RateLimited(policy = "login", identifiers = "user")
		public void call() {
		}

	}

}
