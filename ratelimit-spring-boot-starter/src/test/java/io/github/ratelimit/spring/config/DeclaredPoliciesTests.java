package io.github.ratelimit.spring.config;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.RefreshPoliciesEvent;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.algorithm.DailyAllowance;
import io.github.ratelimit.spring.config.PolicySettings.RouteSettings;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.PolicyRegistration;
import io.github.ratelimit.spring.policy.RateLimitPoliciesCustomizer;
import io.github.ratelimit.test.ManualClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Policies that beans declare are those that a file would configure.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeclaredPoliciesTests {

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(RateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")));

	private WebApplicationContextRunner declared(RateLimitPoliciesCustomizer customizer) {
		return this.runner.withBean("more", RateLimitPoliciesCustomizer.class, () -> customizer);
	}

	/** What a bean says of a policy with a plan, and what a file would say. */
	static Stream<Arguments> declarations() {
		return Stream.of(
				declaration("algorithm=token-bucket;burst=100;plans.silver.limits=15/s;plans.silver.burst=70",
						(policy) -> policy.algorithm(new TokenBucket(100L)).plan("silver", 70, "15/s")),
				declaration("algorithm=fixed-window;retain=3;zone=+02:00;limits=10/d;lease=1s",
						(policy) -> policy.algorithm(new FixedWindow(3, ZoneOffset.ofHours(2)))
							.limits("10/d")
							.lease(Duration.ofSeconds(1))),
				declaration(
						"algorithm=fixed-window;zone=Europe/Berlin;first-day-of-week=sunday;limits=10/week,30/month;plans.gold.limits=100/week",
						(policy) -> policy.algorithm(new FixedWindow(1, ZoneId.of("Europe/Berlin"), DayOfWeek.SUNDAY))
							.limits("10/week", "30/month")
							.plan("gold", "100/week")),
				declaration(
						"algorithm=sliding-log;metadata=#request.method;count-denied=true;unit=bytes;identifiers=ip,header:X-User;missing-identifier=skip;mode=shadow;on-store-failure=deny",
						(policy) -> policy.algorithm(new SlidingLog())
							.metadata("#request.method")
							.countDenied(true)
							.unit("bytes")
							.identifiers("ip", "header:X-User")
							.missingIdentifier(MissingIdentifier.SKIP)
							.mode(Mode.SHADOW)
							.onStoreFailure(OnStoreFailure.DENY)),
				declaration(
						"enabled=false;missing-identifier=global;concurrent=5;concurrent-lease=2m;when=#request.secure;routes[0].paths=POST /a,/b;routes[0].cost=2;routes[1].paths=/c;routes[1].cost=0",
						(policy) -> policy.enabled(false)
							.missingIdentifier(MissingIdentifier.parse("global"))
							.concurrent(5)
							.concurrentLease(Duration.ofMinutes(2))
							.when("#request.secure")
							.route(2, "POST /a", "/b")
							.route(0, "/c")),
				declaration(
						"unless=#request.secure;penalty.after=2;penalty.within=1m;penalty.block=1m;penalty.up-to=1h;paths[0]=/api/{a:[0-9]{1,2}};paths[1]=GET /b;exclude=/api/a,GET /api/b;cost=2;algorithm=sliding-window-counter;previous-weight=0.5;rounding=down",
						(policy) -> policy.unless("#request.secure")
							.algorithm(new SlidingWindowCounter(0.5, Rounding.DOWN))
							.penalty(new Penalty(2, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofHours(1)))
							.paths("/api/{a:[0-9]{1,2}}", "GET /b")
							.exclude("/api/a", "GET /api/b")
							.cost(2)),
				declaration("limits=10/500ms,7/15m;plans.silver.limits=15/s,20/m;plans[A b].unlimited=true",
						(policy) -> policy.limits(Limit.parse("10/500ms"), Limit.parse("7/15m"))
							.plan("silver", "15/s", "20/m")
							.unlimitedPlan("A b")),
				declaration(
						"limits=5/s;unit=${none:bytes};count-when=status in [401, 4xx];reset-when=status in [2xx];reset=ip;penalty.after=1;penalty.within=1m;penalty.block=1h;penalty.mode=shadow;algorithm=sliding-window;precision=1s",
						(policy) -> policy.limits("1/s", "7/m")
							.limits("5/s")
							.unit("${none:bytes}")
							.countWhen("status in [401, 4xx]")
							.resetWhen("status in [2xx]")
							.reset("ip")
							.penalty(new Penalty(1, Duration.ofMinutes(1), Duration.ofHours(1), Duration.ofHours(1),
									true))
							.algorithm(new SlidingWindow(Duration.ofSeconds(1)))));
	}

	private static Arguments declaration(String properties, Consumer<PolicyRegistration> code) {
		return Arguments.of(properties, code);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("declarations")
	void declaredPolicyIsThatOfAFile(String properties, Consumer<PolicyRegistration> code) {
		WebApplicationContextRunner runner = this.runner.withPropertyValues("ratelimit.plan='gold'");
		WebApplicationContextRunner file = runner
			.withPropertyValues("ratelimit.policies.search.limits=10/s", "ratelimit.policies.search.paths=/search",
					"ratelimit.policies.my-Api.limits=10/m", "ratelimit.policies.my-Api.plans.gold.limits=100/d")
			.withPropertyValues(properties("my-Api", properties));
		runner.withUserConfiguration(Application.class)
			.withBean("more", RateLimitPoliciesCustomizer.class,
					() -> (policies) -> code.accept(policies.add("my-Api").limits("10/m").plan("gold", "100/d")))
			.run((declared) -> file.run((configured) -> {
				// An algorithm has its own name and its options, as an object.
				assertThat(declared.getBean(RateLimitProperties.class).policies()).usingRecursiveComparison()
					.ignoringFieldsMatchingRegexes(
							".*\\.(algorithm|burst|precision|previousWeight|rounding|retain|zone|firstDayOfWeek)")
					.isEqualTo(configured.getBean(RateLimitProperties.class).policies());
				assertThat(declared.getBean(ConfiguredPolicies.class))
					.isEqualTo(configured.getBean(ConfiguredPolicies.class));
			}));
	}

	private static String[] properties(String policy, String options) {
		return Stream.of(options.split(";"))
			.map((option) -> "ratelimit.policies.%s.%s".formatted(policy, option))
			.toArray(String[]::new);
	}

	@Test
	void everyPropertyCanBeDeclared() {
		assertThat(declarations().flatMap((declaration) -> Stream.of(((String) declaration.get()[0]).split(";")))
			.map((property) -> property.replaceFirst("[.\\[=].*", ""))
			.distinct()).containsExactlyInAnyOrderElementsOf(PolicySettings.names());
	}

	@ParameterizedTest
	@MethodSource("wrong")
	void wrongDeclarationStopsTheStartAndNamesTheBean(RateLimitPoliciesCustomizer customizer, String description,
			String rule, CapturedOutput output) {
		assertThatException().isThrownBy(() -> StarterRunners.application(Application.class)
			.initializers((context) -> ((GenericApplicationContext) context).registerBean("more",
					RateLimitPoliciesCustomizer.class, () -> customizer))
			.run()
			.close());
		assertThat(output).contains("APPLICATION FAILED TO START").contains(description).contains(rule);
	}

	/** Other values are as those of a file. */
	static Stream<Arguments> wrong() {
		return Stream.of(invalid("api.limits", (api) -> api.limits("10/s", "often"), "often", "must be quota/window"),
				invalid("api.routes[0].paths", (api) -> api.limits("1/s").route(1), "null", "at least one path"),
				invalid("api.unless", (api) -> api.limits("1/s").unless("@limits.search.when"), "@limits.search.when",
						"is not allowed"),
				invalid("api.unit", (api) -> api.limits("1/s").unit("${NOT_SET}"), "${NOT_SET}", "set NOT_SET"),
				invalid("api.limits", (api) -> api.limits("1/s").algorithm(new SlidingWindow(Duration.ofSeconds(2))),
						"[1/s]", "precision"),
				unusable((policies) -> policies.add("a/b"), "Invalid policy name (a/b): must be 1 to 128 printable"),
				unusable((policies) -> policies.add("a").limits(new String[0]),
						"policy 'a': it has no properties, and would be ignored."),
				unusable((policies) -> policies.add("a[0]"), "Invalid policy name (a[0]): must have no brackets."),
				unusable((policies) -> policies.add("a").algorithm(new TokenBucket(-1L)),
						"policy 'a': Invalid burst (-1)"),
				unusable((policies) -> policies.add("a").plan("[b]", "1/s"),
						"policy 'a': Invalid name of a plan ([b]): must not be blank, and have no brackets."),
				Arguments.of((RateLimitPoliciesCustomizer) (policies) -> policies.add("search").limits("1/s"),
						"Invalid policy name (search): the bean 'more' has already declared a policy of that name.",
						"Correct the policies of the bean 'limits'."));
	}

	private static Arguments invalid(String property, Consumer<PolicyRegistration> code, String value, String rule) {
		RateLimitPoliciesCustomizer customizer = (policies) -> code.accept(policies.add("api"));
		return Arguments.of(customizer,
				"Invalid value '%s' for configuration property 'ratelimit.policies.%s' (originating from 'bean 'more'"
					.formatted(value, property),
				rule);
	}

	private static Arguments unusable(RateLimitPoliciesCustomizer customizer, String reason) {
		return Arguments.of(customizer, "Invalid bean 'more' of type RateLimitPoliciesCustomizer: " + reason,
				"Correct the policies of the bean 'more'.");
	}

	@Test
	void namesThatAreTheSameToSpringBootAreRefused() {
		this.runner.withUserConfiguration(Application.class)
			.withPropertyValues("ratelimit.policies.Search.limits=10/s")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.policies.Search",
					"(originating from 'bean 'limits' defined in "));
	}

	/** Whoever operates the application can change a quota without a new build. */
	@Test
	void environmentReplacesSinglePropertiesOfABean(CapturedOutput output) {
		declared((policies) -> policies.add("my-Api")
			.limits("1/s", "2/m", "3/h")
			.identifiers("header:X-User")
			.algorithm(new TokenBucket(9L))
			.plan("gold", "100/m"))
			.withInitializer(variables(
					Map.of("RATELIMIT_POLICIES_MYAPI_LIMITS_0", "7/s", "RATELIMIT_POLICIES_MYAPI_BURST", "70")))
			.withPropertyValues("ratelimit.plan='gold'", "ratelimit.policies.my-Api.plans.silver.limits=50/m")
			.run((context) -> {
				IdentifiedPolicy policy = policy(context, "my-Api");
				assertThat(policy.policy()).isEqualTo(Policy.of("my-Api", new TokenBucket(70L), Limit.parse("7/s")));
				assertThat(policy.identifiers()).containsExactly("header:X-User");
				assertThat(policy.plans()).containsOnlyKeys("gold", "silver");
				assertThat(output).contains(
						"The environment replaces these properties of policies that beans declare: ratelimit.policies.my-Api.burst, ratelimit.policies.my-Api.limits")
					.contains("WARN", "\"RATELIMIT_POLICIES_MYAPI_LIMITS_0\"", " replaces the whole list ")
					.contains(".limits[2]] of bean 'more' have no effect");
			});
	}

	@Test
	void routesMayHavePlaceholdersAndAreReplacedAsAWhole() {
		WebApplicationContextRunner runner = declared(
				(policies) -> policies.add("api").limits("10/s").route(2, "/a", "${other}/{b:.{1,2}}").route(3, "/b"));
		runner.withPropertyValues("other=/b")
			.run((context) -> assertThat(settings(context, "api").routes()).containsExactly(
					new RouteSettings(List.of("/a", "/b/{b:.{1,2}}"), 2), new RouteSettings(List.of("/b"), 3)));
		runner.run((context) -> StartFailure.assertRefused(context, "ratelimit.policies.api.routes[0].paths",
				"${other}", "The placeholder cannot be resolved: set other, or give it a default: ${other:value}."));
		runner
			.withPropertyValues("ratelimit.policies.api.routes[0].paths=/c", "ratelimit.policies.api.routes[0].cost=5")
			.run((context) -> assertThat(settings(context, "api").routes())
				.containsExactly(new RouteSettings(List.of("/c"), 5)));
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void optionsOfAlgorithmStayUnlessTheyAreReplaced(Algorithm declared, String options, Algorithm expected) {
		declared((policies) -> policies.add("api").limits("10/d").algorithm(declared))
			.withPropertyValues(properties("api", options))
			.run((context) -> assertThat(policy(context, "api").policy().algorithm()).isEqualTo(expected));
	}

	static Stream<Arguments> algorithms() {
		ZoneOffset zone = ZoneOffset.ofHours(3);
		Stream<Algorithm> all = Stream.concat(Algorithms.all().stream(),
				Stream.of(new DailyAllowance(6), new SlidingLog(true)));
		return Stream.concat(all.map((algorithm) -> Arguments.of(algorithm, "mode=enforce", algorithm)), Stream.of(
				Arguments.of(new TokenBucket(100L), "algorithm=token-bucket", new TokenBucket(100L)),
				Arguments.of(new TokenBucket(100L), "algorithm=token-bucket;burst=20", new TokenBucket(20L)),
				Arguments.of(new FixedWindow(10, zone), "algorithm=fixed-window;retain=4", new FixedWindow(4, zone))));
	}

	/** A template may write a variable for each property, and leave it empty. */
	@Test
	void emptyTextKeepsTheListsOfABean(CapturedOutput output) {
		declared((policies) -> policies.add("search")
			.limits("${limit:10/s}", "20/m")
			.paths("/a", "/b")
			.route(2, "/c")
			.plan("gold", "100/d"))
			.withPropertyValues("ratelimit.plan='gold'", "limit=7/s", "ratelimit.policies.search.routes=",
					"ratelimit.policies.search.exclude=", "ratelimit.policies.search.plans.gold.limits=")
			.withInitializer(
					variables(Map.of("RATELIMIT_POLICIES_SEARCH_PATHS", "", "RATELIMIT_POLICIES_SEARCH_LIMITS", "")))
			.run((context) -> {
				PolicySettings settings = settings(context, "search");
				assertThat(settings.limits()).containsExactly("7/s", "20/m");
				assertThat(settings.paths()).containsExactly("/a", "/b");
				assertThat(settings.routes()).containsExactly(new RouteSettings(List.of("/c"), 2));
				assertThat(settings.plans().get("gold").limits()).containsExactly("100/d");
				assertThat(output).doesNotContain("The environment replaces");
			});
	}

	private static ApplicationContextInitializer<ConfigurableApplicationContext> variables(
			Map<String, Object> variables) {
		return (context) -> context.getEnvironment()
			.getPropertySources()
			.replace("systemEnvironment", new SystemEnvironmentPropertySource("systemEnvironment", variables));
	}

	private static PolicySettings settings(AssertableWebApplicationContext context, String policy) {
		return context.getBean(RateLimitProperties.class).policies().get(policy);
	}

	@Test
	void refreshKeepsWhatBeansDeclare(CapturedOutput output) {
		Map<String, Object> changing = new HashMap<>();
		this.runner.withUserConfiguration(Application.class)
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("changing", changing)))
			.run((context) -> {
				changing.put("ratelimit.policies.search.limits", "20/s");
				assertThat(refreshedLimits(context)).isEqualTo("[20/s]");
				changing.clear();
				assertThat(refreshedLimits(context)).isEqualTo("[10/s]");
				assertThat(output).doesNotContain("need a restart", "The environment replaces");
			});
	}

	private static String refreshedLimits(ConfigurableApplicationContext context) {
		context.publishEvent(new RefreshPoliciesEvent(context));
		return context.getBean(Decider.class).current(policy(context, "search")).policy().limits().toString();
	}

	private static IdentifiedPolicy policy(ConfigurableApplicationContext context, String name) {
		return context.getBean(ConfiguredPolicies.class).find(name).orElseThrow();
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		RateLimitPoliciesCustomizer limits() {
			return (policies) -> policies.add("search").paths("/search").limits("10/s");
		}

	}

}
