package io.github.ratelimit.spring.config;

import io.github.ratelimit.spring.decide.Decider;

import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
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
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.config.PolicySettings.RouteSettings;
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

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Policies that beans declare are those that a file would configure.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeclaredPoliciesTests {

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(RateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")));

	/** What a bean says of a policy with a plan, and what a file would say. */
	static Stream<Arguments> declarations() {
		return Stream.of(declaration("limits=20/s,30/m", (policy) -> policy.limits("20/s", "30/m")),
				declaration("limits=20/s,30/m", (policy) -> policy.limits(Limit.parse("20/s"), Limit.parse("30/m"))),
				declaration("limits=10/500ms,7/15m",
						(policy) -> policy.limits(Limit.parse("10/500ms"), Limit.parse("7/15m"))),
				declaration("algorithm=sliding-log", (policy) -> policy.algorithm(new SlidingLog())),
				declaration("algorithm=leaky-bucket", (policy) -> policy.algorithm(new LeakyBucket())),
				declaration("algorithm=token-bucket", (policy) -> policy.algorithm(new TokenBucket())),
				declaration("algorithm=token-bucket;burst=100", (policy) -> policy.algorithm(new TokenBucket(100L))),
				declaration("algorithm=sliding-window;precision=1s",
						(policy) -> policy.algorithm(new SlidingWindow(Duration.ofSeconds(1)))),
				declaration("algorithm=sliding-window-counter;previous-weight=0.5;rounding=down",
						(policy) -> policy.algorithm(new SlidingWindowCounter(0.5, Rounding.DOWN))),
				declaration("algorithm=fixed-window;retain=3;zone=+02:00;limits=10/d",
						(policy) -> policy.algorithm(new FixedWindow(3, ZoneOffset.ofHours(2))).limits("10/d")),
				declaration("identifiers=ip,header:X-User", (policy) -> policy.identifiers("ip", "header:X-User")),
				declaration("identifiers=header:X-User;missing-identifier=skip",
						(policy) -> policy.identifiers("header:X-User").missingIdentifier(MissingIdentifier.SKIP)),
				declaration("identifiers=header:X-User;missing-identifier=deny",
						(policy) -> policy.identifiers("header:X-User").missingIdentifier(MissingIdentifier.DENY)),
				declaration("identifiers=header:X-User;missing-identifier=global",
						(policy) -> policy.identifiers("header:X-User")
							.missingIdentifier(MissingIdentifier.parse("global"))),
				declaration("paths[0]=/api/{a:[0-9]{1,2}};paths[1]=GET /b",
						(policy) -> policy.paths("/api/{a:[0-9]{1,2}}", "GET /b")),
				declaration("paths=/api/**;exclude=/api/a,GET /api/b;cost=2",
						(policy) -> policy.paths("/api/**").exclude("/api/a", "GET /api/b").cost(2)),
				declaration("routes[0].paths=POST /a,/b;routes[0].cost=2;routes[1].paths=/c;routes[1].cost=0",
						(policy) -> policy.route(2, "POST /a", "/b").route(0, "/c")),
				declaration("when=#request.secure;unless=#request.asyncStarted",
						(policy) -> policy.when("#request.secure").unless("#request.asyncStarted")),
				declaration("unit=bytes", (policy) -> policy.unit("bytes")),
				declaration("algorithm=sliding-log;metadata=#request.method",
						(policy) -> policy.algorithm(new SlidingLog()).metadata("#request.method")),
				declaration("count-denied=true", (policy) -> policy.countDenied(true)),
				declaration("mode=shadow", (policy) -> policy.mode(Mode.SHADOW)),
				declaration("on-store-failure=deny", (policy) -> policy.onStoreFailure(OnStoreFailure.DENY)),
				declaration("count-when=status in [401, 4xx]", (policy) -> policy.countWhen("status in [401, 4xx]")),
				declaration("plans.silver.limits=15/s,20/m;plans[A b].unlimited=true",
						(policy) -> policy.plan("silver", "15/s", "20/m").unlimitedPlan("A b")),
				declaration("algorithm=token-bucket;burst=9;plans.silver.limits=15/s;plans.silver.burst=70",
						(policy) -> policy.algorithm(new TokenBucket(9L)).plan("silver", 70, "15/s")),
				declaration("concurrent=5;concurrent-lease=2m",
						(policy) -> policy.concurrent(5).concurrentLease(Duration.ofMinutes(2))),
				declaration("algorithm=fixed-window;lease=1s",
						(policy) -> policy.algorithm(new FixedWindow()).lease(Duration.ofSeconds(1))),
				declaration("penalty.after=20;penalty.within=1m;penalty.block=15m;penalty.up-to=24h",
						(policy) -> policy.penalty(
								new Penalty(20, Duration.ofMinutes(1), Duration.ofMinutes(15), Duration.ofHours(24)))),
				declaration("penalty.after=1;penalty.within=1m;penalty.block=1h;penalty.mode=shadow",
						(policy) -> policy.penalty(
								new Penalty(1, Duration.ofMinutes(1), Duration.ofHours(1), Duration.ofHours(1), true))),
				declaration("limits=${none:7/s}", (policy) -> policy.limits("${none:7/s}")), declaration(
						"limits=5/s;unit=bytes", (policy) -> policy.limits("1/s", "7/m").limits("5/s").unit("bytes")));
	}

	private static Arguments declaration(String properties, Consumer<PolicyRegistration> code) {
		return Arguments.of(properties, code);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("declarations")
	void declaredPolicyIsThatOfAFile(String properties, Consumer<PolicyRegistration> code) {
		Policies declared = new Policies();
		WebApplicationContextRunner runner = this.runner.withPropertyValues("ratelimit.plan='gold'");
		runner.withUserConfiguration(Application.class)
			.withBean("more", RateLimitPoliciesCustomizer.class, () -> (policies) -> {
				PolicyRegistration policy = policies.add("my-Api").limits("10/m").plan("gold", "100/d");
				code.accept(policy);
			})
			.run(declared::read);
		Policies configured = new Policies();
		runner
			.withPropertyValues("ratelimit.policies.search.limits=10/s", "ratelimit.policies.search.paths=/search",
					"ratelimit.policies.my-Api.limits=10/m", "ratelimit.policies.my-Api.plans.gold.limits=100/d")
			.withPropertyValues(Stream.of(properties.split(";"))
				.map((property) -> "ratelimit.policies.my-Api." + property)
				.toArray(String[]::new))
			.run(configured::read);
		// An algorithm has its own name and its options, as an object.
		assertThat(declared.properties).usingRecursiveComparison()
			.ignoringFieldsMatchingRegexes(".*\\.(algorithm|burst|precision|previousWeight|rounding|retain|zone)")
			.isEqualTo(configured.properties);
		assertThat(declared.policies).isEqualTo(configured.policies).hasSize(2);
	}

	@Test
	void everyPropertyCanBeDeclared() {
		Set<String> tested = declarations()
			.flatMap((declaration) -> Stream.of(((String) declaration.get()[0]).split(";")))
			.map((property) -> property.replaceFirst("[.\\[=].*", ""))
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(tested).containsExactlyInAnyOrderElementsOf(Stream.of(PolicySettings.class.getRecordComponents())
			.map((component) -> DataObjectPropertyName.toDashedForm(component.getName()))
			.toList());
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("invalid")
	void invalidValueStopsTheStartWithBeanPolicyAndValue(String property, Consumer<PolicyRegistration> code,
			String value, String rule, CapturedOutput output) {
		assertThatException().isThrownBy(() -> StarterRunners.application(Application.class)
			.initializers((context) -> ((GenericApplicationContext) context).registerBean("more",
					RateLimitPoliciesCustomizer.class, () -> (policies) -> code.accept(policies.add("api"))))
			.run()
			.close());
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains(
					"Invalid value '%s' for configuration property 'ratelimit.policies.%s' (originating from 'bean 'more'"
						.formatted(value, property))
			.contains(rule);
	}

	/** Others are as those of a file. */
	static Stream<Arguments> invalid() {
		return Stream.of(invalid("api.limits", (api) -> api.limits("10/s", "often"), "often", "must be quota/window"),
				invalid("api.limits", (api) -> api.limits("10/s", "20/s"), "[10/s, 20/s]",
						"only one limit for the window s"),
				invalid("api.limits", (api) -> api.paths("/a"), "null", "must have at least one limit"),
				invalid("api.missing-identifier",
						(api) -> api.limits("1/s").missingIdentifier(MissingIdentifier.parse("skp")), "skp",
						"Did you mean 'skip'?"),
				invalid("api.routes[0].paths", (api) -> api.limits("1/s").route(1), "null", "at least one path"),
				invalid("api.unless", (api) -> api.limits("1/s").unless("@limits.search.when"), "@limits.search.when",
						"is not allowed"),
				invalid("api.plans.pro", (api) -> api.limits("1/s").plan("pro"), "", "Is an empty plan"),
				invalid("api.plans.pro.limits", (api) -> api.limits("1/s").plan("pro", "often"), "often",
						"must be quota/window"),
				invalid("api.unit", (api) -> api.limits("1/s").unit("${NOT_SET}"), "${NOT_SET}", "set NOT_SET"),
				invalid("api.limits", (api) -> api.limits("1/s").algorithm(new SlidingWindow(Duration.ofSeconds(2))),
						"[1/s]", "precision"));
	}

	private static Arguments invalid(String property, Consumer<PolicyRegistration> code, String value, String rule) {
		return Arguments.of(property, code, value, rule);
	}

	@ParameterizedTest
	@MethodSource("unusable")
	void unusableDeclarationNamesTheBean(RateLimitPoliciesCustomizer customizer, String reason, CapturedOutput output) {
		assertThatException().isThrownBy(() -> StarterRunners.application(Application.class)
			.initializers((context) -> ((GenericApplicationContext) context).registerBean("more",
					RateLimitPoliciesCustomizer.class, () -> customizer))
			.run()
			.close());
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid bean 'more' of type RateLimitPoliciesCustomizer: " + reason)
			.contains("Correct the policies of the bean 'more'.");
	}

	static Stream<Arguments> unusable() {
		return Stream.of(
				unusable((policies) -> policies.add("a/b"), "Invalid policy name (a/b): must be 1 to 128 printable"),
				unusable((policies) -> policies.add("a").limits(new String[0]),
						"policy 'a': it has no properties, and would be ignored."),
				unusable((policies) -> policies.add("a[0]"), "Invalid policy name (a[0]): must have no brackets."),
				unusable((policies) -> {
					policies.add("a");
					policies.add("a");
				}, "Invalid policy name (a): the bean 'more' has already declared"),
				unusable((policies) -> policies.add("a").limits(Limit.parse("often")),
						"policy 'a': Invalid limit (often): must be quota/window"),
				unusable((policies) -> policies.add("a").algorithm(new TokenBucket(-1L)),
						"policy 'a': Invalid burst (-1)"),
				unusable((policies) -> policies.add("a").plan("[b]", "1/s"),
						"policy 'a': Invalid name of a plan ([b]): must not be blank, and have no brackets."));
	}

	private static Arguments unusable(RateLimitPoliciesCustomizer customizer, String reason) {
		return Arguments.of(customizer, reason);
	}

	@Test
	void nameThatTwoBeansDeclareIsRefused() {
		this.runner.withUserConfiguration(Application.class)
			.withBean("more", RateLimitPoliciesCustomizer.class,
					() -> (policies) -> policies.add("search").limits("1/s"))
			.run((context) -> assertThat(StartFailure.cause(context, InvalidBeanException.class))
				.hasMessageContainingAll("Invalid policy name (search): the bean '", "has already declared", "'limits'",
						"'more'"));
	}

	@Test
	void namesThatAreTheSameToSpringBootAreRefused() {
		this.runner.withUserConfiguration(Application.class)
			.withPropertyValues("ratelimit.policies.Search.limits=10/s")
			.run((context) -> StartFailure.assertRefused(context, "ratelimit.policies[Search]",
					"(originating from 'bean 'limits' defined in "));
	}

	/** Whoever operates the application can change a quota without a new build. */
	@Test
	void environmentReplacesSinglePropertiesOfABean(CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.plan='gold'")
			.withUserConfiguration(Application.class)
			.withBean("more", RateLimitPoliciesCustomizer.class,
					() -> (policies) -> policies.add("my-Api")
						.limits("1/s", "2/m", "3/h")
						.identifiers("header:X-User")
						.algorithm(new TokenBucket(9L))
						.plan("gold", "100/m"))
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.replace("systemEnvironment",
						new SystemEnvironmentPropertySource("systemEnvironment",
								Map.of("RATELIMIT_POLICIES_MYAPI_LIMITS", "7/s", "RATELIMIT_POLICIES_MYAPI_BURST",
										"70"))))
			.withPropertyValues("ratelimit.policies.my-Api.plans.silver.limits=50/m")
			.run((context) -> {
				Map<String, IdentifiedPolicy> policies = context.getBean(ConfiguredPolicies.class).policies();
				assertThat(policies).containsOnlyKeys("search", "my-Api");
				IdentifiedPolicy policy = policies.get("my-Api");
				assertThat(policy.policy()).isEqualTo(Policy.of("my-Api", new TokenBucket(70L), Limit.parse("7/s")));
				assertThat(policy.identifiers()).containsExactly("header:X-User");
				assertThat(policy.plans()).containsOnlyKeys("gold", "silver");
				assertThat(output).contains(
						"The environment replaces these properties of policies that beans declare: ratelimit.policies.my-Api.burst, ratelimit.policies.my-Api.limits");
			});
	}

	@Test
	void routesOfABeanAreReplacedAsAWhole() {
		this.runner
			.withBean(RateLimitPoliciesCustomizer.class,
					() -> (policies) -> policies.add("api").limits("10/s").route(2, "/a").route(3, "/b", "/{c:.{1,2}}"))
			.withPropertyValues("ratelimit.policies.api.routes[0].paths=/c", "ratelimit.policies.api.routes[0].cost=5")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(settings(context, "api").routes()).containsExactly(new RouteSettings(List.of("/c"), 5));
			});
	}

	@Test
	void pathsOfRoutesMayHavePlaceholders() {
		WebApplicationContextRunner runner = this.runner.withBean(RateLimitPoliciesCustomizer.class,
				() -> (policies) -> policies.add("api").limits("10/s").route(2, "/a", "${other}/{b:.{1,2}}"));
		runner.withPropertyValues("other=/b")
			.run((context) -> assertThat(settings(context, "api").routes())
				.containsExactly(new RouteSettings(List.of("/a", "/b/{b:.{1,2}}"), 2)));
		runner.run((context) -> StartFailure.assertRefused(context, "ratelimit.policies.api.routes[0].paths",
				"${other}", "The placeholder cannot be resolved: set other, or give it a default: ${other:value}."));
	}

	@ParameterizedTest
	@MethodSource("options")
	void declaredOptionsStayIfTheAlgorithmIsNamed(Algorithm declared, String options, Algorithm expected) {
		this.runner
			.withBean(RateLimitPoliciesCustomizer.class,
					() -> (policies) -> policies.add("api").limits("10/d").algorithm(declared))
			.withPropertyValues(Stream.of(options.split(";"))
				.map((option) -> "ratelimit.policies.api." + option)
				.toArray(String[]::new))
			.run((context) -> assertThat(
					context.getBean(ConfiguredPolicies.class).find("api").orElseThrow().policy().algorithm())
				.isEqualTo(expected));
	}

	static Stream<Arguments> options() {
		ZoneOffset zone = ZoneOffset.ofHours(3);
		return Stream.of(Arguments.of(new TokenBucket(100L), "algorithm=token-bucket", new TokenBucket(100L)),
				Arguments.of(new TokenBucket(100L), "algorithm=token-bucket;burst=20", new TokenBucket(20L)),
				Arguments.of(new FixedWindow(10, zone), "algorithm=fixed-window", new FixedWindow(10, zone)),
				Arguments.of(new FixedWindow(10, zone), "algorithm=fixed-window;retain=4", new FixedWindow(4, zone)));
	}

	/** A template may write a variable for each property, and leave it empty. */
	@Test
	void emptyTextKeepsTheListsOfABean(CapturedOutput output) {
		this.runner
			.withBean(RateLimitPoliciesCustomizer.class,
					() -> (policies) -> policies.add("search")
						.limits("${limit:10/s}", "20/m")
						.paths("/a", "/b")
						.route(2, "/c")
						.route(3, "/d")
						.plan("gold", "100/d"))
			.withPropertyValues("ratelimit.plan='gold'", "limit=7/s", "ratelimit.policies.search.routes=",
					"ratelimit.policies.search.exclude=", "ratelimit.policies.search.plans.gold.limits=")
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.replace("systemEnvironment",
						new SystemEnvironmentPropertySource("systemEnvironment",
								Map.of("RATELIMIT_POLICIES_SEARCH_PATHS", "", "RATELIMIT_POLICIES_SEARCH_LIMITS", ""))))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				PolicySettings settings = settings(context, "search");
				assertThat(settings.limits()).containsExactly("7/s", "20/m");
				assertThat(settings.paths()).containsExactly("/a", "/b");
				assertThat(settings.exclude()).isEmpty();
				assertThat(settings.routes()).containsExactly(new RouteSettings(List.of("/c"), 2),
						new RouteSettings(List.of("/d"), 3));
				assertThat(settings.plans().get("gold").limits()).containsExactly("100/d");
				assertThat(output).doesNotContain("The environment replaces");
			});
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
				context.publishEvent(new RefreshPoliciesEvent(this));
				assertThat(limits(context)).containsExactly("20/s");
				changing.clear();
				context.publishEvent(new RefreshPoliciesEvent(this));
				assertThat(limits(context)).containsExactly("10/s");
				changing.put("ratelimit.policies.search.limits", "often");
				context.publishEvent(new RefreshPoliciesEvent(this));
				assertThat(limits(context)).containsExactly("10/s");
				assertThat(output).doesNotContain("need a restart", "The environment replaces");
			});
	}

	private static List<String> limits(ConfigurableApplicationContext context) {
		return context.getBean(Decider.class)
			.current(context.getBean(ConfiguredPolicies.class).find("search").orElseThrow())
			.policy()
			.limits()
			.stream()
			.map(Limit::toString)
			.toList();
	}

	@Test
	void annotationsMayNameThem() {
		this.runner.withUserConfiguration(Application.class)
			.withBean(Searches.class)
			.withPropertyValues("ratelimit.policies.search.identifiers=global")
			.run((context) -> {
				for (int i = 0; i < 10; i++) {
					context.getBean(Searches.class).search();
				}
				assertThatExceptionOfType(RateLimitExceededException.class)
					.isThrownBy(() -> context.getBean(Searches.class).search());
			});
	}

	/** A file would have no property for some of them. */
	@ParameterizedTest
	@MethodSource("optionsOfAlgorithms")
	void optionsOfAlgorithmAreKept(Algorithm algorithm, String limit) {
		this.runner
			.withBean("more", RateLimitPoliciesCustomizer.class,
					() -> (policies) -> policies.add("day").limits(limit).algorithm(algorithm))
			.run((context) -> assertThat(
					context.getBean(ConfiguredPolicies.class).find("day").orElseThrow().policy().algorithm())
				.isEqualTo(algorithm));
	}

	static Stream<Arguments> optionsOfAlgorithms() {
		return Stream.concat(Algorithms.all().stream().map((algorithm) -> Arguments.of(algorithm, "10/d")),
				Stream.of(Arguments.of(new DailyAllowance(6), "10/d"), Arguments.of(new SlidingLog(true), "10/d"),
						Arguments.of(new FixedWindow(4, ZoneOffset.ofHours(3)), "10/d"),
						Arguments.of(new SlidingWindow(Duration.ofHours(1)), "10/d"),
						Arguments.of(new SlidingWindowCounter(0.25, Rounding.DOWN), "10/d"),
						Arguments.of(new TokenBucket(3L), "10/d")));
	}

	static class Searches {

		@RateLimited("search")
		void search() {
		}

	}

	/** What an application has read. */
	private static final class Policies {

		private Map<String, PolicySettings> properties = Map.of();

		private Map<String, IdentifiedPolicy> policies = Map.of();

		void read(AssertableWebApplicationContext context) {
			assertThat(context).hasNotFailed();
			this.properties = context.getBean(RateLimitProperties.class).policies();
			this.policies = context.getBean(ConfiguredPolicies.class).policies();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		RateLimitPoliciesCustomizer limits() {
			return (policies) -> policies.add("search").paths("/search").limits("10/s");
		}

	}

}
