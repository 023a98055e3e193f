package io.github.ratelimit.spring.policy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.spring.method.RateLimitMethodAutoConfiguration;
import io.github.ratelimit.spring.method.RateLimitNonWebAutoConfiguration;
import io.github.ratelimit.spring.redis.RateLimitRedisAutoConfiguration;
import io.github.ratelimit.spring.web.RateLimitWebAutoConfiguration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties that cannot be enforced stop the start, with the name of the property, its
 * value and the rule.
 */
class InvalidPropertiesTests {

	private static final String LIMIT_RULE = "must be quota/window, such as 10/s, 100/15m or 10/500ms; the units are ms, s, m, h and d.";

	private static final String IDENTIFIER_RULE = "must be ip, user, header:NAME, cookie:NAME, path, method, global, or several of them joined by '+'.";

	private static final String URL_RULE = "Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption.";

	private static final String SERVER_RULE = "Rate limits need a single Redis server, sentinels or a cluster: set ratelimit.redis.url, or provide a UnifiedJedis bean.";

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, RateLimitAutoConfiguration.class,
				RateLimitRedisAutoConfiguration.class, RateLimitMethodAutoConfiguration.class,
				RateLimitWebAutoConfiguration.class, RateLimitNonWebAutoConfiguration.class));

	@Test
	void startFailsWhenLimitIsWrong() {
		assertRefused("ratelimit.policies.api.limits", "often", "Invalid limit (often): " + LIMIT_RULE,
				"ratelimit.policies.api.limits=10/s,often");
	}

	@Test
	void startFailsWhenThereIsNoLimit() {
		assertRefused("ratelimit.policies.api.limits", null, "A policy must have at least one limit, such as 100/m.",
				"ratelimit.policies.api.paths=/api/**");
	}

	@Test
	void startFailsWhenTwoLimitsHaveOneWindow() {
		assertRefused("ratelimit.policies.api.limits", List.of("10/m", "20/60s"),
				"Invalid limits [10/m, 20/m]: there must be only one limit for the window m.",
				"ratelimit.policies.api.limits=10/m,20/60s");
	}

	@Test
	void startFailsWhenAlgorithmIsUnknown() {
		assertRefused("ratelimit.policies.api.algorithm", "guess",
				"Invalid algorithm (guess): must be one of %s."
					.formatted(Algorithms.all().stream().map(Algorithm::name).collect(Collectors.joining(", "))),
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.algorithm=guess");
	}

	@Test
	void startFailsWhenAlgorithmNeedsScripting() {
		assertRefused("ratelimit.policies.api.algorithm", "sliding-log",
				"Invalid algorithm (sliding-log): must be one of fixed-window, first-request-window, sliding-window, sliding-window-counter where scripts are not used.",
				"ratelimit.redis.scripting=false", "ratelimit.policies.api.limits=10/s",
				"ratelimit.policies.api.algorithm=sliding-log");
		assertRefused("ratelimit.policies.api.algorithm", "fixed-window",
				"Invalid retain (3): no past windows can be kept where scripts are not used.",
				"ratelimit.redis.scripting=false", "ratelimit.policies.api.limits=10/s",
				"ratelimit.policies.api.algorithm=fixed-window", "ratelimit.policies.api.retain=3");
	}

	@ParameterizedTest
	@ValueSource(strings = { "address", "header:", "header:X User", "ip+", "+", "ip+address" })
	void startFailsWhenIdentifierIsUnknown(String identifier) {
		assertRefused("ratelimit.policies.api.identifiers", identifier,
				"Invalid identifier (%s): %s".formatted(identifier, IDENTIFIER_RULE),
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.identifiers=ip," + identifier);
	}

	@Test
	void startFailsWhenIdentifierStandsTwice() {
		assertRefused("ratelimit.policies.api.identifiers", List.of("ip", "ip"),
				"Invalid identifiers [ip, ip]: there must be at least one, and no duplicates.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.identifiers=ip,ip");
	}

	@Test
	void startFailsWhenDefaultIdentifierIsUnknown() {
		assertRefused("ratelimit.defaults.identifiers", "address", "Invalid identifier (address): " + IDENTIFIER_RULE,
				"ratelimit.defaults.identifiers=address");
	}

	@Test
	void startFailsWhenThereIsNoDefaultIdentifier() {
		assertRefused("ratelimit.defaults.identifiers", List.of(),
				"There must be at least one identifier, such as ip, and no duplicates.",
				"ratelimit.defaults.identifiers=");
	}

	@Test
	void startFailsWhenPathIsNoPattern() {
		assertRefused("ratelimit.policies.api.paths", "api",
				"Invalid path (api): must be a pattern such as /api/** or GET /user/**.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.paths=/x,api");
	}

	@Test
	void startFailsWhenPatternIsWrong() {
		this.runner.withPropertyValues("ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.paths=/{a")
			.run((context) -> assertThat(refusal(context.getStartupFailure())).satisfies((ex) -> {
				assertThat(ex.getName()).isEqualTo("ratelimit.policies.api.paths");
				assertThat(ex.getValue()).isEqualTo("/{a");
				assertThat(ex.getReason()).startsWith("Invalid path (/{a): ").contains("/{a");
			}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "FETCH", "get" })
	void startFailsWhenMethodIsUnknown(String method) {
		assertRefused("ratelimit.policies.api.paths", method + " /api",
				"Invalid path (%s /api): %s is no HTTP method.".formatted(method, method),
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.paths=" + method + " /api");
	}

	@Test
	void startFailsWhenCostIsMoreThanQuota() {
		assertRefused("ratelimit.policies.api.cost", 11L, "Invalid cost (11): the limit 10/s would never allow it.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.paths=/api",
				"ratelimit.policies.api.cost=11");
	}

	@Test
	void startFailsWhenCostIsNegative() {
		assertRefused("ratelimit.policies.api.routes[0].cost", -1L, "Invalid cost (-1): must not be negative.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.routes[0].paths=/api",
				"ratelimit.policies.api.routes[0].cost=-1");
	}

	@Test
	void startFailsWhenRouteHasNoPath() {
		assertRefused("ratelimit.policies.api.routes[0].paths", null, "A route must have at least one path.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.routes[0].cost=1");
	}

	@Test
	void startFailsWhenNameOfPolicyCannotBeSent() {
		assertRefused("ratelimit.policies[größe]", "größe",
				"Invalid policy name (größe): must be 1 to 128 printable ASCII characters other than '/'.",
				"ratelimit.policies[größe].limits=10/s");
	}

	@Test
	void startFailsWhenPolicyIsNamedAsCountOfFailedLogins() {
		assertRefused("ratelimit.policies[api (before login)]", "api (before login)",
				"Invalid policy name (api (before login)): must not end with ' (before login)', which names the count of failed logins.",
				"ratelimit.policies[api (before login)].limits=10/s");
	}

	@Test
	void startFailsWhenOptionBelongsToAnotherAlgorithm() {
		assertRefused("ratelimit.policies.api.burst", 5L,
				"Is an option of token-bucket, but the algorithm of this policy is sliding-window: change the algorithm, or remove the option.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.burst=5");
		assertRefused("ratelimit.policies.api.precision", Duration.ofSeconds(1),
				"Is an option of sliding-window, but the algorithm of this policy is fixed-window: change the algorithm, or remove the option.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.algorithm=fixed-window",
				"ratelimit.policies.api.precision=1s");
	}

	@Test
	void startFailsWhenOptionIsOutOfRange() {
		assertRefused("ratelimit.policies.api.burst", 0L, "Invalid burst (0): must be from 1 to 94906265 tokens.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.algorithm=token-bucket",
				"ratelimit.policies.api.burst=0");
		assertRefused("ratelimit.policies.api.retain", 0, "Invalid retain (0): must be between 1 and 1000 windows.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.algorithm=fixed-window",
				"ratelimit.policies.api.retain=0");
		assertRefused("ratelimit.policies.api.previous-weight", 1.5,
				"Invalid previous weight (1.5): must be between 0 and 1.", "ratelimit.policies.api.limits=10/s",
				"ratelimit.policies.api.algorithm=sliding-tail", "ratelimit.policies.api.previous-weight=1.5");
	}

	@Test
	void startFailsWhenAlgorithmDoesNotSupportLimits() {
		assertRefused("ratelimit.policies.api.burst", 5L,
				"Invalid burst (5): with a burst, a policy must have one limit, but has [10/s, 100/m]; use two policies, or remove the burst.",
				"ratelimit.policies.api.limits=10/s,100/m", "ratelimit.policies.api.algorithm=token-bucket",
				"ratelimit.policies.api.burst=5");
	}

	@Test
	void startFailsWhenKeyPrefixIsWrong() {
		this.runner.withPropertyValues("ratelimit.key-prefix=a b")
			.run((context) -> assertThat(refusal(context.getStartupFailure())).satisfies((ex) -> {
				assertThat(ex.getName()).isEqualTo("ratelimit.key-prefix");
				assertThat(ex.getValue()).isEqualTo("a b");
				assertThat(ex.getReason()).startsWith("Invalid key prefix (a b): must be ");
			}));
	}

	@Test
	void startFailsWhenHeaderStyleIsUnknown() {
		assertRefused("ratelimit.headers.styles", "loud",
				"Invalid header style (loud): must be one of draft, x-rate-limit, x-ratelimit, or none alone.",
				"ratelimit.headers.styles=loud");
	}

	@ParameterizedTest
	@ValueSource(strings = { "nonsense", "redis://", "http://example.com:6379", "redis://example.com:99999",
			"redis://example.com:0", "redis://h/abc", "redis://h/99999999999", "redis://h/-1", "redis://h/1/2",
			"redis://h:1#x" })
	void startFailsWhenUrlIsWrong(String url) {
		assertRefused("ratelimit.redis.url", url, URL_RULE, "ratelimit.redis.url=" + url);
	}

	@ParameterizedTest
	@ValueSource(strings = { "http://user:se%cret@example.com:6379", "http://user:se/cret@example.com:6379",
			"redis://user:se@cret@:6379", "redis://user:se#cret@example.com:6379", "redis://user:se cret@example.com:1",
			"redis:user:secret@example.com:1", "redis://pa#secret@example.com" })
	void messageDoesNotHoldPasswordWhenUrlIsWrong(String url) {
		this.runner.withPropertyValues("ratelimit.redis.url=" + url).run((context) -> {
			assertThat(refusal(context.getStartupFailure()).getName()).isEqualTo("ratelimit.redis.url");
			assertThat(String.valueOf(refusal(context.getStartupFailure()).getValue())).contains("***");
			StringWriter trace = new StringWriter();
			context.getStartupFailure().printStackTrace(new PrintWriter(trace));
			assertThat(trace.toString()).doesNotContain("cret", "user:se");
		});
	}

	@Test
	void startFailsWhenUrlOfSpringIsWrong() {
		assertRefused("spring.data.redis.url", "nonsense", URL_RULE, "spring.data.redis.url=nonsense");
	}

	@ParameterizedTest
	@ValueSource(strings = { "0", "1ms", "-5s", "60d" })
	void startFailsWhenTimeoutIsOutOfRange(String timeout) {
		Duration value = DurationStyle.detectAndParse(timeout);
		assertRefused("ratelimit.redis.timeout", value, "Must be from 2ms to 1h.",
				"ratelimit.redis.timeout=" + timeout);
	}

	@ParameterizedTest
	@ValueSource(strings = { "0", "-1s", "3651d" })
	void startFailsWhenMaximumAgeOfDenialsIsOutOfRange(String maxAge) {
		Duration value = DurationStyle.detectAndParse(maxAge);
		assertRefused("ratelimit.denial-cache.max-age", value,
				"Invalid maximum age (%s): must be from 1ms to 3650d.".formatted(value),
				"ratelimit.denial-cache.max-age=" + maxAge);
	}

	@Test
	void startFailsWhenNoDenialsMayBeRemembered() {
		assertRefused("ratelimit.denial-cache.max-size", 0L, "Invalid maximum size (0): must be at least 1.",
				"ratelimit.denial-cache.max-size=0");
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0 })
	void startFailsWhenThereAreNoInstances(int instances) {
		assertRefused("ratelimit.instances", instances, "Must be at least 1.", "ratelimit.instances=" + instances);
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, 65_536 })
	void startFailsWhenPortIsOutOfRange(int port) {
		assertRefused("ratelimit.redis.port", port, "Must be from 1 to 65535.", "ratelimit.redis.host=localhost",
				"ratelimit.redis.port=" + port);
		assertRefused("spring.data.redis.port", port, "Must be from 1 to 65535.", "spring.data.redis.port=" + port);
	}

	@Test
	void startFailsWhenDatabaseIsNegative() {
		assertRefused("ratelimit.redis.database", -1, "Must not be negative.", "ratelimit.redis.host=localhost",
				"ratelimit.redis.database=-1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void startFailsWhenClusterHasNoNodes(String prefix) {
		assertRefused(prefix + ".cluster.nodes", List.of(), "Must name nodes of the cluster, such as example.com:6379.",
				prefix + ".cluster.nodes=");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "a:", ":1", "a:0", "a:65536", "a:b", "::1", "a:b:1", "[a]:1", "[::1", "[::1]",
			"redis://a:1" })
	void startFailsWhenNodeOfClusterIsWrong(String node) {
		for (String prefix : List.of("ratelimit.redis", "spring.data.redis")) {
			assertRefused(prefix + ".cluster.nodes", node, "Must be a host and a port, such as example.com:6379.",
					prefix + ".cluster.nodes=b:1," + node);
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			host | b.example.com | redis://a.example.com:6380          | redis://a.example.com:6380
			port | 6381          | redis://a.example.com:6380          | redis://a.example.com:6380
			port | 6379          | redis://a.example.com               | redis://a.example.com
			host | b.example.com | rediss://user:s%2Fecret@a.example.com:1/3 | rediss://***@a.example.com:1/3
			""")
	void startFailsWhenServerIsNamedBesideUrl(String name, String value, String url, String shown) {
		assertRefused("ratelimit.redis." + name, value,
				"Has no effect together with ratelimit.redis.url (%s), which contains the host and port: remove one of them."
					.formatted(shown),
				"ratelimit.redis.url=" + url, "ratelimit.redis." + name + "=" + value);
	}

	@ParameterizedTest
	@CsvSource({ "ratelimit.redis, url", "ratelimit.redis, host", "spring.data.redis, url", "spring.data.redis, host" })
	void startFailsWhenServerIsEmptyText(String prefix, String name) {
		for (String empty : List.of("", " ")) {
			assertRefused(prefix + "." + name, empty.strip(), "Must not be empty: name the server, or remove it.",
					prefix + "." + name + "=" + empty);
		}
	}

	/** Spring Boot does not look at its host beside a cluster. */
	@ParameterizedTest
	@CsvSource({ "ratelimit.redis, url", "ratelimit.redis, host", "spring.data.redis, url" })
	void startFailsWhenServerIsEmptyTextBesideCluster(String prefix, String name) {
		assertRefused(prefix + "." + name, "", "Must not be empty: name the server, or remove it.",
				prefix + "." + name + "=${NOT_SET:}", prefix + ".cluster.nodes=a:1");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			username    | anna   | anna  | redis://user:sec@a   | redis://***@a   | contains a login
			username    | anna   | anna  | redis://sec@a        | redis://***@a   | contains a login
			password    | sec    | ***   | redis://:sec@a       | redis://***@a   | contains a login
			database    | 3      | 3     | redis://a/3          | redis://a/3     | contains a database
			database    | 0      | 0     | redis://u:sec@a:1/2  | redis://***@a:1/2 | contains a database
			ssl.enabled | false  | false | rediss://a           | rediss://a      | requires encryption
			""")
	void startFailsWhenUrlSaysTheSame(String name, String value, String shown, String url, String shownUrl,
			String reason) {
		assertRefused("ratelimit.redis." + name, shown,
				"Has no effect together with ratelimit.redis.url (%s), which %s: remove one of them.".formatted(
						shownUrl, reason),
				"ratelimit.redis.url=" + url, "ratelimit.redis." + name + "=" + value);
	}

	@Test
	void startFailsWhenServerAndClusterAreNamed() {
		for (String server : List.of("ratelimit.redis.url=redis://a", "ratelimit.redis.host=a",
				"ratelimit.redis.sentinel.master=main")) {
			assertRefused("ratelimit.redis.cluster.nodes", List.of("a:1"),
					"Cannot be combined with ratelimit.redis.url, ratelimit.redis.host or ratelimit.redis.sentinel: remove them.",
					"ratelimit.redis.cluster.nodes=a:1", server);
		}
		assertRefused("ratelimit.redis.port", "6380",
				"Has an effect only with ratelimit.redis.host, because the nodes of a cluster have their own ports: remove it.",
				"ratelimit.redis.cluster.nodes=a:1", "ratelimit.redis.port=6380");
		assertRefused("ratelimit.redis.database", 3, "Must be 0, because a cluster has no other database.",
				"ratelimit.redis.cluster.nodes=a:1", "ratelimit.redis.database=3");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void startFailsWhenSentinelsAreIncomplete(String prefix) {
		assertRefused(prefix + ".sentinel.nodes", List.of(), "Must name the sentinels, such as example.com:26379.",
				prefix + ".sentinel.master=main");
		String rule = "Must be the name of the master that the sentinels monitor.";
		assertRefused(prefix + ".sentinel.master", null, rule, prefix + ".sentinel.nodes=a:1");
		assertRefused(prefix + ".sentinel.master", "", rule, prefix + ".sentinel.nodes=a:1",
				prefix + ".sentinel.master=");
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "a:", ":1", "a:0", "a:65536", "a:b", "::1", "a:b:1", "http://a:1" })
	void startFailsWhenSentinelIsWrong(String node) {
		assertRefused("ratelimit.redis.sentinel.nodes", node, "Must be a host and a port, such as example.com:26379.",
				"ratelimit.redis.sentinel.master=main", "ratelimit.redis.sentinel.nodes=b:1," + node);
	}

	@Test
	void startFailsWhenServerAndSentinelsAreNamed() {
		for (String server : List.of("ratelimit.redis.url=redis://a", "ratelimit.redis.host=a")) {
			assertRefused("ratelimit.redis.sentinel.master", "main",
					"Cannot be combined with ratelimit.redis.url or ratelimit.redis.host: remove them.",
					"ratelimit.redis.sentinel.master=main", "ratelimit.redis.sentinel.nodes=a:1", server);
		}
		assertRefused("ratelimit.redis.port", "6380",
				"Has an effect only with ratelimit.redis.host, because the sentinels have their own ports: remove it.",
				"ratelimit.redis.sentinel.master=main", "ratelimit.redis.sentinel.nodes=a:1",
				"ratelimit.redis.port=6380");
	}

	@Test
	void startFailsWhenSpringUsesReplicas() {
		assertRefused("spring.data.redis.masterreplica.nodes", "a:1,b:1", SERVER_RULE,
				"spring.data.redis.masterreplica.nodes=a:1,b:1");
	}

	@ParameterizedTest
	@CsvSource({ "port, 6380, 6380", "username, anna, anna", "password, secret, ***", "database, 3, 3",
			"ssl.enabled, true, true", "ssl.bundle, mine, mine" })
	void startFailsWhenServerIsNotNamed(String name, String value, String shown) {
		assertRefused("ratelimit.redis." + name, shown,
				"Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.",
				"ratelimit.redis." + name + "=" + value, "spring.data.redis.host=example.com");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void startFailsWhenBundleIsUnknown(String prefix) {
		String rule = "Must be the name of an SSL bundle below spring.ssl.bundle.";
		assertRefused(prefix + ".ssl.bundle", "mine", rule, prefix + ".host=localhost", prefix + ".ssl.bundle=mine");
		assertRefused(this.runner.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class)),
				prefix + ".ssl.bundle", "mine", rule, prefix + ".host=localhost", prefix + ".ssl.bundle=mine");
	}

	@Test
	void startFailsWhenBundleHasNoEffect() {
		assertRefused("ratelimit.redis.ssl.bundle", "mine",
				"Has an effect only with encryption, which ratelimit.redis.ssl.enabled switches off.",
				"ratelimit.redis.host=localhost", "ratelimit.redis.ssl.bundle=mine",
				"ratelimit.redis.ssl.enabled=false");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit.redis", "spring.data.redis" })
	void startFailsWhenClientNameIsInvalid(String prefix) {
		for (String name : List.of("my app", "caf\u00e9", "a\tb")) {
			assertRefused(prefix + ".client-name", name, "Must contain only printable ASCII characters, and no spaces.",
					prefix + ".client-name=" + name);
		}
	}

	@ParameterizedTest
	@CsvSource({ "connections, 0, Must be from 1 to 64.", "connections, 65, Must be from 1 to 64.",
			"max-waiting, 0, Must be at least 1." })
	void startFailsWhenNumberOfRedisIsOutOfRange(String name, int number, String rule) {
		assertRefused("ratelimit.redis." + name, number, rule, "ratelimit.redis." + name + "=" + number);
	}

	@Test
	void startFailsWhenCostHasNoPath() {
		assertRefused("ratelimit.policies.api.cost", 2L, "Has no effect without paths.",
				"ratelimit.policies.api.limits=10/s", "ratelimit.policies.api.cost=2");
	}

	@Test
	void clusterOfSpringDoesNotMatterWhenServerIsNamed() {
		this.runner.withPropertyValues("spring.data.redis.cluster.nodes=a:1", "ratelimit.redis.url=redis://localhost:1")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private void assertRefused(String property, @Nullable Object value, String reason, String... properties) {
		assertRefused(this.runner, property, value, reason, properties);
	}

	private static void assertRefused(WebApplicationContextRunner runner, String property, @Nullable Object value,
			String reason, String... properties) {
		runner.withPropertyValues(properties)
			.run((context) -> assertThat(refusal(context.getStartupFailure())).satisfies((ex) -> {
				assertThat(ex.getName()).isEqualTo(property);
				assertThat(ex.getValue()).isEqualTo(value);
				assertThat(ex.getReason()).isEqualTo(reason);
			}));
	}

	private static InvalidConfigurationPropertyValueException refusal(@Nullable Throwable failure) {
		Throwable cause = failure;
		while (cause != null && !(cause instanceof InvalidConfigurationPropertyValueException)) {
			cause = cause.getCause();
		}
		assertThat(cause).isInstanceOf(InvalidConfigurationPropertyValueException.class);
		return (InvalidConfigurationPropertyValueException) cause;
	}

}
