package io.github.ratelimit.spring.policy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.spring.StartFailure;
import io.github.ratelimit.spring.StarterRunners;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties that cannot be enforced stop the start, with the name of the property, its
 * value and the rule.
 */
class InvalidPropertiesTests {

	private final WebApplicationContextRunner runner = StarterRunners.web();

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					limits=10/s,often                      | limits          | often      | Invalid limit (often): must be quota/window, such as 10/s, 100/15m or 10/500ms; the units are ms, s, m, h and d.
					paths=/api/**                          | limits          |            | A policy must have at least one limit, such as 100/m, or concurrent, such as 5.
					limits=10/m,20/60s                     | limits          | [10/m, 20/60s] | Invalid limits [10/m, 20/m]: there must be only one limit for the window m.
					limits=10/s;identifiers=ip,ip          | identifiers     | [ip, ip]   | Invalid identifiers [ip, ip]: there must be at least one, and no duplicates.
					limits=10/s;paths=/x,api               | paths           | api        | Invalid path (api): must be a pattern such as /api/** or GET /user/**.
					limits=10/s;paths=FETCH /api           | paths           | FETCH /api | Invalid path (FETCH /api): FETCH is no HTTP method.
					limits=10/s;paths=get /api             | paths           | get /api   | Invalid path (get /api): get is no HTTP method.
					limits=10/s;cost=11;paths=/api         | cost            | 11         | Invalid cost (11): the limit 10/s would never allow it.
					limits=10/s;cost=2                     | cost            | 2          | Has no effect without paths.
					limits=10/s;routes[0].cost=-1;routes[0].paths=/api | routes[0].cost | -1 | Invalid cost (-1): must not be negative.
					limits=10/s;routes[0].cost=1           | routes[0].paths |            | A route must have at least one path.
					limits=10/s;burst=5                    | burst           | 5          | Is an option of token-bucket, but the algorithm of this policy is sliding-window: change the algorithm, or remove the option.
					limits=10/s;precision=1s;algorithm=fixed-window | precision | PT1S    | Is an option of sliding-window, but the algorithm of this policy is fixed-window: change the algorithm, or remove the option.
					limits=10/s;burst=0;algorithm=token-bucket | burst       | 0          | Invalid burst (0): must be from 1 to 94906265 tokens.
					limits=10/s;retain=0;algorithm=fixed-window | retain     | 0          | Invalid retain (0): must be between 1 and 1000 windows.
					limits=10/s;previous-weight=1.5;algorithm=sliding-tail | previous-weight | 1.5 | Invalid previous weight (1.5): must be between 0 and 1.
					limits=10/s;penalty.after=3;penalty.within=1m | penalty.block |   | Must be set: a penalty needs after, within and block, such as after: 20, within: 1m, block: 15m.
					limits=10/s;penalty.mode=shadow        | penalty.after   |            | Must be set: a penalty needs after, within and block, such as after: 20, within: 1m, block: 15m.
					limits=10/s;penalty.after=0;penalty.within=1m;penalty.block=1m | penalty.after | 0 | Invalid number of denials (0): must be from 1 to 1000000.
					limits=10/s;penalty.after=1;penalty.within=0;penalty.block=1m | penalty.within | PT0S | Invalid within (PT0S): must be whole milliseconds, from 1ms to 3650d.
					limits=10/s;penalty.after=1;penalty.within=1m;penalty.block=3651d | penalty.block | PT87624H | Invalid block (PT87624H): must be whole milliseconds, from 1ms to 3650d.
					limits=10/s;penalty.after=1;penalty.within=1m;penalty.block=5m;penalty.up-to=4m | penalty.up-to | PT4M | Invalid up-to (PT4M): must be at least as long as the first block (PT5M).
					limits=10/s,100/m;burst=5;algorithm=token-bucket | burst | 5          | Invalid burst (5): with a burst, a policy must have one limit, but has [10/s, 100/m]; use two policies, or remove the burst.
					""")
	void startFailsWhenPolicyIsWrong(String options, String property, @Nullable String value, String reason) {
		assertRefused("policies.api." + options.replace(";", ";policies.api."), "policies.api." + property, value,
				reason);
	}

	@ParameterizedTest
	@ValueSource(strings = { "address", "header:", "header:X User", "ip+", "+", "ip+address" })
	void startFailsWhenIdentifierIsUnknown(String identifier) {
		assertRefused("policies.api.limits=10/s;policies.api.identifiers=ip," + identifier, "policies.api.identifiers",
				identifier,
				"Invalid identifier (%s): must be ip, user, header:NAME, cookie:NAME, path, method, global, or several of them joined by '+'."
					.formatted(identifier));
	}

	@ParameterizedTest
	@CsvSource({ "'identifiers=ip,global', global", "identifiers=path+method, path+method",
			"missing-identifier=global, global" })
	void startFailsWhenPenaltyWouldBlockEverybody(String setting, String shared) {
		assertRefused(
				"policies.api.limits=10/s;policies.api.penalty.after=3;policies.api.penalty.within=1m;policies.api.penalty.block=2m;policies.api."
						+ setting,
				"policies.api.penalty", "Penalty[after=3, within=PT1M, block=PT2M, upTo=PT2M, shadow=false]",
				"Invalid identifier (%s): the penalty would block all clients at once; use identifiers that tell clients apart, such as ip or user."
					.formatted(shared));
	}

	@Test
	void startFailsWhenPolicyHasMoreLimitsThanOneCallDecides() {
		String limits = IntStream.rangeClosed(1, 20).mapToObj((i) -> "9/" + i + "m").collect(Collectors.joining(","));
		List<String> thirteen = IntStream.rangeClosed(1, 13).mapToObj((i) -> "header:X-" + i).toList();
		String identifiers = "policies.api.identifiers=" + String.join(",", thirteen);
		String rule = "for each of 13 identifiers are %d; there must be at most 256.";
		assertRefused("policies.api.limits=" + limits + ";" + identifiers, "policies.api.identifiers",
				thirteen.toString(), "Invalid policy (api): 20 limits " + rule.formatted(260));
		assertRefused("policies.api.limits=" + limits + ";policies.api.concurrent=5;" + identifiers,
				"policies.api.identifiers", thirteen.toString(),
				"Invalid policy (api): 20 limits and concurrent calls " + rule.formatted(273));
		assertRefused("plan='a';policies.api.limits=1/m;policies.api.plans.pro.limits=" + limits + ";" + identifiers,
				"policies.api.identifiers", thirteen.toString(),
				"Invalid policy (api) of the plan 'pro': 20 limits " + rule.formatted(260));
		start("policies.api.limits=" + limits + ";policies.api.concurrent=5;" + identifiers.replace(",header:X-13", ""))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void startFailsWhenAlgorithmIsUnknown() {
		assertRefused("policies.api.limits=10/s;policies.api.algorithm=guess", "policies.api.algorithm", "guess",
				"Invalid algorithm (guess): must be one of %s."
					.formatted(Algorithms.all().stream().map(Algorithm::name).collect(Collectors.joining(", "))));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			policies.api.paths=/{a | policies.api.paths | /{a | Invalid path (/{a):
			key-prefix=a b         | key-prefix         | a b | Invalid key prefix (a b): must be
			""")
	void startFailsWithTheReasonOfWhoReadsIt(String properties, String property, String value, String reason) {
		start("policies.api.limits=10/s;" + properties).run((context) -> {
			StartFailure.assertRefused(context, "ratelimit." + property, reason);
			assertThat(StartFailure.refusal(context).getValue()).isEqualTo(value);
		});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					redis.scripting=false;policies.api.limits=10/s;policies.api.algorithm=sliding-log | policies.api.algorithm | sliding-log | Invalid algorithm (sliding-log): must be one of fixed-window, first-request-window, sliding-window, sliding-window-counter where scripts are not used.
					redis.scripting=false;policies.api.limits=10/s;policies.api.algorithm=fixed-window;policies.api.retain=3 | policies.api.algorithm | fixed-window | Invalid retain (3): no past windows can be kept where scripts are not used.
					redis.scripting=false;policies.api.limits=10/s;policies.api.penalty.after=3;policies.api.penalty.within=1m;policies.api.penalty.block=2m | policies.api.penalty | Penalty[after=3, within=PT1M, block=PT2M, upTo=PT2M, shadow=false] | Invalid policy (api): the store does not support penalties.
					redis.scripting=false;policies.api.limits=10/s;policies.api.algorithm=fixed-window;policies.api.lease=1s | policies.api.lease | PT1S | Invalid lease (PT1S): needs scripting, because plain commands cannot cancel a reservation.
					policies.api.limits=10/s;policies.api.lease=1s | policies.api.lease | PT1S | Invalid lease (PT1S): sliding-window does not support leases; use fixed-window or first-request-window.
					policies.api.limits=10/s;policies.api.algorithm=fixed-window;policies.api.lease=99ms | policies.api.lease | PT0.099S | Invalid lease (PT0.099S): must be from 100ms to 1m.
					policies.api.limits=10/s;policies.api.algorithm=fixed-window;policies.api.lease=61s | policies.api.lease | PT1M1S | Invalid lease (PT1M1S): must be from 100ms to 1m.
					policies.api.limits=10/s;policies.api.algorithm=fixed-window;policies.api.lease=1s;policies.api.count-denied=true | policies.api.lease | PT1S | Invalid lease (PT1S): must not be combined with count-denied, because a part that is denied would count.
					defaults.identifiers=address     | defaults.identifiers   | address | Invalid identifier (address): must be ip, user, header:NAME, cookie:NAME, path, method, global, or several of them joined by '+'.
					defaults.identifiers=            | defaults.identifiers   | []      | There must be at least one identifier, such as ip, and no duplicates.
					policies[größe].limits=10/s      | policies[größe]        | größe   | Invalid policy name (größe): must be 1 to 128 printable ASCII characters other than '/'.
					policies[api (before login)].limits=10/s | policies[api (before login)] | api (before login) | Invalid policy name (api (before login)): must not end with ' (before login)', which names the count of failed logins.
					policies[api (at once)].limits=10/s | policies[api (at once)] | api (at once) | Invalid policy name (api (at once)): must not end with ' (at once)', which names the calls that run at once.
					policies.api.concurrent=0        | policies.api.concurrent | 0 | Must be from 1 to 1000.
					policies.api.concurrent=1001     | policies.api.concurrent | 1001 | Must be from 1 to 1000.
					policies.api.limits=10/s;policies.api.concurrent=-1 | policies.api.concurrent | -1 | Must be from 1 to 1000.
					policies.api.concurrent=5;policies.api.concurrent-lease=999ms | policies.api.concurrent-lease | PT0.999S | Must be from 1s to 1d.
					policies.api.concurrent=5;policies.api.concurrent-lease=25h | policies.api.concurrent-lease | PT25H | Must be from 1s to 1d.
					policies.api.limits=10/s;policies.api.concurrent-lease=1m | policies.api.concurrent-lease | PT1M | Has no effect without concurrent.
					policies.api.concurrent=5;policies.api.algorithm=sliding-log | policies.api.algorithm | sliding-log | Has no effect without limits.
					policies.api.concurrent=5;policies.api.paths=/a;policies.api.cost=2 | policies.api.cost | 2 | Has no effect without limits.
					policies.api.concurrent=5;policies.api.unit=bytes | policies.api.unit | bytes | Has no effect without limits.
					policies.api.concurrent=5;policies.api.count-denied=true | policies.api.count-denied | true | Has no effect without limits.
					policies.api.concurrent=5;policies.api.count-when=status in [401] | policies.api.count-when | status in [401] | Has no effect without limits.
					policies.api.concurrent=5;policies.api.plans.pro.limits=5/s | policies.api.plans | [pro] | Has no effect without limits.
					policies.api.concurrent=5;policies.api.burst=9 | policies.api.burst | 9 | Has no effect without limits.
					redis.scripting=false;policies.api.limits=10/s;policies.api.concurrent=5 | policies.api.concurrent | 5 | Invalid algorithm (concurrent-calls): must be one of fixed-window, first-request-window, sliding-window, sliding-window-counter where scripts are not used.
					policies.api.limits=10/s;policies.api.algorithm=concurrent-calls | policies.api.algorithm | concurrent-calls | Invalid algorithm (concurrent-calls): must be one of fixed-window, first-request-window, sliding-log, sliding-window, sliding-window-counter, leaky-bucket, token-bucket.
					headers.styles=loud              | headers.styles         | loud    | Invalid header style (loud): must be one of draft, x-rate-limit, x-ratelimit, or none alone.
					denial-cache.max-age=0           | denial-cache.max-age   | PT0S    | Invalid maximum age (PT0S): must be from 1ms to 3650d.
					denial-cache.max-age=-1s         | denial-cache.max-age   | PT-1S   | Invalid maximum age (PT-1S): must be from 1ms to 3650d.
					denial-cache.max-age=3651d       | denial-cache.max-age   | PT87624H | Invalid maximum age (PT87624H): must be from 1ms to 3650d.
					denial-cache.max-size=0          | denial-cache.max-size  | 0       | Invalid maximum size (0): must be at least 1.
					instances=-1                     | instances              | -1      | Must be at least 1.
					instances=0                      | instances              | 0       | Must be at least 1.
					redis.timeout=0                  | redis.timeout          | PT0S    | Must be from 2ms to 1h.
					redis.timeout=1ms                | redis.timeout          | PT0.001S | Must be from 2ms to 1h.
					redis.timeout=-5s                | redis.timeout          | PT-5S   | Must be from 2ms to 1h.
					redis.timeout=60d                | redis.timeout          | PT1440H | Must be from 2ms to 1h.
					redis.connections=0              | redis.connections      | 0       | Must be from 1 to 64.
					redis.connections=65             | redis.connections      | 65      | Must be from 1 to 64.
					redis.max-waiting=0              | redis.max-waiting      | 0       | Must be at least 1.
					redis.host=a;redis.database=-1   | redis.database         | -1      | Must not be negative.
					redis.cluster.nodes=a:1;redis.url=redis://a | redis.cluster.nodes | [a:1] | Cannot be combined with ratelimit.redis.url, ratelimit.redis.host or ratelimit.redis.sentinel: remove them.
					redis.cluster.nodes=a:1;redis.host=a | redis.cluster.nodes | [a:1] | Cannot be combined with ratelimit.redis.url, ratelimit.redis.host or ratelimit.redis.sentinel: remove them.
					redis.cluster.nodes=a:1;redis.sentinel.master=main | redis.cluster.nodes | [a:1] | Cannot be combined with ratelimit.redis.url, ratelimit.redis.host or ratelimit.redis.sentinel: remove them.
					redis.cluster.nodes=a:1;redis.port=6380 | redis.port      | 6380    | Has an effect only with ratelimit.redis.host, because the nodes of a cluster have their own ports: remove it.
					redis.cluster.nodes=a:1;redis.database=3 | redis.database | 3       | Must be 0, because a cluster has no other database.
					redis.sentinel.master=main;redis.sentinel.nodes=a:1;redis.url=redis://a | redis.sentinel.master | main | Cannot be combined with ratelimit.redis.url or ratelimit.redis.host: remove them.
					redis.sentinel.master=main;redis.sentinel.nodes=a:1;redis.host=a | redis.sentinel.master | main | Cannot be combined with ratelimit.redis.url or ratelimit.redis.host: remove them.
					redis.sentinel.master=main;redis.sentinel.nodes=a:1;redis.port=6380 | redis.port | 6380 | Has an effect only with ratelimit.redis.host, because the sentinels have their own ports: remove it.
					redis.cluster.nodes=a:1;redis.host=${NOT_SET:} | redis.host | "" | Must not be empty: name the server, or remove it.
					spring.data.redis.masterreplica.nodes=a:1,b:1 | spring.data.redis.masterreplica.nodes | a:1,b:1 | Rate limits need a single Redis server, sentinels or a cluster: set ratelimit.redis.url, or name a UnifiedJedis bean in ratelimit.redis.client.
					redis.host=a;redis.ssl.bundle=mine;redis.ssl.enabled=false | redis.ssl.bundle | mine | Has an effect only with encryption, which ratelimit.redis.ssl.enabled switches off.
					""")
	void startFailsWhenPropertyIsWrong(String properties, String property, @Nullable String value, String reason) {
		assertRefused(properties, property, value, reason);
	}

	/** Each of them for the server of this library, and for that of Spring. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					url=nonsense         | url             | nonsense | Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption.
					url=                 | url             | ""       | Must not be empty: name the server, or remove it.
					host=                | host            | ""       | Must not be empty: name the server, or remove it.
					url=${NOT_SET: }     | url             | " "      | Must not be empty: name the server, or remove it.
					host=${NOT_SET: }    | host            | " "      | Must not be empty: name the server, or remove it.
					url=${NOT_SET:};cluster.nodes=a:1 | url | ""      | Must not be empty: name the server, or remove it.
					host=a;port=-1       | port            | -1       | Must be from 1 to 65535.
					host=a;port=0        | port            | 0        | Must be from 1 to 65535.
					host=a;port=65536    | port            | 65536    | Must be from 1 to 65535.
					cluster.nodes=       | cluster.nodes   | []       | Must name nodes of the cluster, such as example.com:6379.
					sentinel.master=main | sentinel.nodes  | []       | Must name the sentinels, such as example.com:26379.
					sentinel.nodes=a:1   | sentinel.master |          | Must be the name of the master that the sentinels monitor.
					sentinel.nodes=a:1;sentinel.master= | sentinel.master | "" | Must be the name of the master that the sentinels monitor.
					host=a;ssl.bundle=mine | ssl.bundle    | mine     | Must be the name of an SSL bundle below spring.ssl.bundle.
					client-name=my app   | client-name     | my app   | Must contain only printable ASCII characters, and no spaces.
					client-name=a\tb     | client-name     | a\tb     | Must contain only printable ASCII characters, and no spaces.
					client-name=café     | client-name     | café     | Must contain only printable ASCII characters, and no spaces.
					""")
	void startFailsWhenServerIsWrong(String options, String property, @Nullable String value, String reason) {
		for (String prefix : List.of("redis.", "spring.data.redis.")) {
			assertRefused(prefix + options.replace(";", ";" + prefix), prefix + property, value, reason);
		}
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "redis://", "http://example.com:6379", "redis://example.com:99999", "redis://example.com:0",
					"redis://h/abc", "redis://h/99999999999", "redis://h/-1", "redis://h/1/2", "redis://h:1#x" })
	void startFailsWhenUrlIsWrong(String url) {
		assertRefused("redis.url=" + url, "redis.url", url,
				"Must be a URL such as redis://user:password@example.com:6379/0, or rediss:// for encryption.");
	}

	@ParameterizedTest
	@ValueSource(strings = { "http://user:se%cret@example.com:6379", "http://user:se/cret@example.com:6379",
			"redis://user:se@cret@:6379", "redis://user:se#cret@example.com:6379", "redis://user:se cret@example.com:1",
			"redis:user:secret@example.com:1", "redis://pa#secret@example.com" })
	void messageDoesNotHoldPasswordWhenUrlIsWrong(String url) {
		start("redis.url=" + url).run((context) -> {
			assertThat(StartFailure.refusal(context).getName()).isEqualTo("ratelimit.redis.url");
			assertThat(String.valueOf(StartFailure.refusal(context).getValue())).contains("***");
			assertThat(context).getFailure().satisfies((failure) -> {
				StringWriter trace = new StringWriter();
				failure.printStackTrace(new PrintWriter(trace));
				assertThat(trace.toString()).doesNotContain("cret", "user:se");
			});
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "a:", ":1", "a:0", "a:65536", "a:b", "::1", "a:b:1", "[a]:1", "[::1", "[::1]",
			"redis://a:1" })
	void startFailsWhenNodeOfClusterIsWrong(String node) {
		for (String prefix : List.of("redis", "spring.data.redis")) {
			assertRefused(prefix + ".cluster.nodes=b:1," + node, prefix + ".cluster.nodes", node,
					"Must be a host and a port, such as example.com:6379.");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "a:", ":1", "a:0", "a:65536", "a:b", "::1", "a:b:1", "http://a:1" })
	void startFailsWhenSentinelIsWrong(String node) {
		assertRefused("redis.sentinel.master=main;redis.sentinel.nodes=b:1," + node, "redis.sentinel.nodes", node,
				"Must be a host and a port, such as example.com:26379.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					host        | b.example.com | b.example.com | redis://a.example.com:6380 | redis://a.example.com:6380 | contains the host and port
					port        | 6381   | 6381  | redis://a.example.com:6380 | redis://a.example.com:6380 | contains the host and port
					port        | 6379   | 6379  | redis://a            | redis://a       | contains the host and port
					host        | b      | b     | rediss://user:s%2Fecret@a:1/3 | rediss://***@a:1/3 | contains the host and port
					username    | anna   | anna  | redis://user:sec@a   | redis://***@a   | contains a login
					username    | anna   | anna  | redis://sec@a        | redis://***@a   | contains a login
					password    | sec    | ***   | redis://:sec@a       | redis://***@a   | contains a login
					database    | 3      | 3     | redis://a/3          | redis://a/3     | contains a database
					database    | 0      | 0     | redis://u:sec@a:1/2  | redis://***@a:1/2 | contains a database
					ssl.enabled | false  | false | rediss://a           | rediss://a      | requires encryption
					""")
	void startFailsWhenUrlSaysTheSame(String name, String value, String shown, String url, String shownUrl,
			String reason) {
		assertRefused("redis.url=" + url + ";redis." + name + "=" + value, "redis." + name, shown,
				"Has no effect together with ratelimit.redis.url (%s), which %s: remove one of them."
					.formatted(shownUrl, reason));
	}

	@ParameterizedTest
	@CsvSource({ "port, 6380, 6380", "username, anna, anna", "password, secret, ***", "database, 3, 3",
			"ssl.enabled, true, true", "ssl.bundle, mine, mine" })
	void startFailsWhenServerIsNotNamed(String name, String value, String shown) {
		assertRefused("spring.data.redis.host=example.com;redis." + name + "=" + value, "redis." + name, shown,
				"Has an effect only with ratelimit.redis.host, ratelimit.redis.url, ratelimit.redis.sentinel.master or ratelimit.redis.cluster.nodes: set one of them.");
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "spring.data.redis" })
	void startFailsWhenBundleIsNotAmongThoseOfSpring(String prefix) {
		assertRefused(
				start(prefix + ".host=a;" + prefix + ".ssl.bundle=mine")
					.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class)),
				prefix + ".ssl.bundle", "mine", "Must be the name of an SSL bundle below spring.ssl.bundle.");
	}

	@Test
	void clusterOfSpringDoesNotMatterWhenServerIsNamed() {
		start("spring.data.redis.cluster.nodes=a:1;redis.url=redis://localhost:1")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private void assertRefused(String properties, String property, @Nullable String value, String reason) {
		assertRefused(start(properties), property, value, reason);
	}

	private static void assertRefused(WebApplicationContextRunner runner, String property, @Nullable String value,
			String reason) {
		runner.run((context) -> StartFailure.assertRefused(context, fullName(property), value, reason));
	}

	private WebApplicationContextRunner start(String properties) {
		return this.runner.withPropertyValues(
				Arrays.stream(properties.split(";")).map(InvalidPropertiesTests::fullName).toArray(String[]::new));
	}

	private static String fullName(String property) {
		return property.startsWith("spring.") ? property : "ratelimit." + property;
	}

}
