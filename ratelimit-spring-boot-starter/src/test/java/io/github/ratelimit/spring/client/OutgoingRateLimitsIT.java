package io.github.ratelimit.spring.client;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.redis.PipelineRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.config.RateLimitOffAutoConfiguration;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequest;
import org.springframework.http.client.ClientHttpRequestFactory;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.mock.http.client.MockClientHttpRequest;
import org.springframework.mock.http.client.MockClientHttpResponse;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.client.support.RestClientHttpServiceGroupConfigurer;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.registry.ImportHttpServices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Calls to another service, of which only the transport is missing.
 */
class OutgoingRateLimitsIT {

	private static final String URL = "http://service.example.com/";

	private static final Function<HttpRequest, Identifier> TENANT = (request) -> new Identifier("code:tenant",
			String.valueOf(request.getHeaders().getFirst("X-Tenant")));

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	private final String prefix = TestRedis.newKeyPrefix();

	/** What the service answers; otherwise 200. */
	private final Queue<MockClientHttpResponse> answers = new ConcurrentLinkedQueue<>();

	private final AtomicInteger received = new AtomicInteger();

	private final ApplicationContextRunner runner = StarterRunners.nonWeb()
		.withBean(ClientHttpRequestFactory.class, () -> this::request)
		.withPropertyValues("ratelimit.defaults.identifiers=global", "ratelimit.policies.all.limits=3/m",
				"ratelimit.policies.tenants.limits=2/m", "ratelimit.policies.tenants.identifiers=code:tenant");

	private final ApplicationContextRunner onRedis = this.runner.withBean(RateLimiter.class,
			() -> RedisRateLimiter.of(TestRedis.connections(), this.prefix).withClock(this.clock));

	private final ApplicationContextRunner onCommands = this.runner.withBean(RateLimiter.class,
			() -> PipelineRateLimiter.of(TestRedis.connections(), this.prefix));

	private ApplicationContextRunner onRedis(int port) {
		return this.runner.withBean(RateLimiter.class, () -> RedisRateLimiter
			.of(RedisConnections.client(RedisClient.create("127.0.0.1", port)).build(), this.prefix));
	}

	/** The service. */
	private ClientHttpRequest request(URI uri, HttpMethod method) {
		this.received.incrementAndGet();
		MockClientHttpResponse answer = this.answers.poll();
		MockClientHttpRequest request = new MockClientHttpRequest(method, uri);
		request.setResponse((answer != null) ? answer : new MockClientHttpResponse(new byte[0], 200));
		return request;
	}

	/** Lets the service answer once with headers. */
	private void answer(int status, String headers) {
		MockClientHttpResponse answer = new MockClientHttpResponse(new byte[0], status);
		for (String header : headers.split(" & ")) {
			answer.getHeaders().add(header.split(": ")[0], header.split(": ")[1]);
		}
		this.answers.add(answer);
	}

	@Test
	void callsOfAnyClientBeyondTheLimitsAreNotSent() {
		this.onRedis.withUserConfiguration(Services.class).run((context) -> {
			RestClient client = all(context);
			RestTemplate template = new RestTemplate(this::request);
			template.getInterceptors().add(limits(context).interceptor("all"));
			List<Runnable> calls = List.of(() -> call(client, "a"), () -> template.getForEntity(URL, String.class),
					context.getBean(Remote.class)::call);
			calls.forEach(Runnable::run);
			assertThat(calls)
				.allSatisfy((call) -> assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(call::run)
					.withMessage("Outgoing call denied by the policy 'all' (3/m); try again in 60 s")
					.satisfies((ex) -> assertThat(ex.getDecision().retryAfter()).hasValue(Duration.ofMinutes(1))));
			assertThat(this.received).hasValue(3);
			this.clock.advance(Duration.ofMinutes(1));
			calls.forEach(Runnable::run);
			assertThat(this.received).hasValue(6);
		});
	}

	@Test
	void concurrentCallsEndWithTheirAnswers() {
		this.onRedis.withPropertyValues("ratelimit.policies.one.concurrent=1").run((context) -> {
			PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
			ClientHttpRequestInterceptor interceptor = limits(context).interceptor("one");
			assertThat(statuses(client(this::request, interceptor), "a", "a")).containsOnly(200);
			PolicyLimiter.Acquisition other = limiter.tryAcquire("one");
			assertThat(statuses(client(this::request, interceptor), "a")).containsOnly(0);
			other.end();
			assertThatExceptionOfType(ResourceAccessException.class).isThrownBy(() -> call(client((uri, method) -> {
				throw new IOException("expected by this test");
			}, interceptor), "a"));
			assertThat(limiter.tryAcquire("one").allowed()).isTrue();
		});
	}

	/** A lease knows no blocks. */
	@Test
	void waitOfAnAnswerEndsTheLeaseOfThisInstance() {
		this.onRedis
			.withPropertyValues("ratelimit.policies.all.limits=60000/h",
					"ratelimit.policies.all.algorithm=fixed-window", "ratelimit.policies.all.lease=1m")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				await().untilAsserted(() -> assertThat(limiter.tryAcquire("all").decision().source())
					.isEqualTo(Decision.Source.LEASE));
				answer(429, "Retry-After: 600");
				assertThat(statuses(all(context), "a", "a")).containsExactly(429, 0);
				assertThat(this.received).hasValue(1);
			});
	}

	/**
	 * Instances share a wait, of that policy and identifier only. GitHub asks for one
	 * with 403 when the quota is used up.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			429 | Retry-After: 30
			503 | Retry-After: 30
			403 | Retry-After: 30
			429 | RateLimit: "s";r=0;t=1, "m";r=0;t=30
			403 | RateLimit: "s";r=0;t=1, "m";r=0;t=30
			403 | x-ratelimit-remaining: 0 & x-ratelimit-reset: 1767268830 & Date: Thu, 01 Jan 2026 12:00:00 GMT
			""")
	void allInstancesWaitAsLongAsTheServiceAsks(int status, String headers) {
		this.onRedis.run((first) -> this.onRedis.run((second) -> {
			answer(status, headers);
			assertThat(statuses(tenants(first), "a", "a")).containsExactly(status, 0);
			RestClient there = tenants(second);
			assertThat(statuses(there, "a", "b")).containsExactly(0, 200);
			assertThat(this.received).hasValue(2);
			assertThat(second.getBean(BlockList.class).blocks()).isEmpty();
			this.clock.advance(Duration.ofSeconds(30).minusMillis(1));
			assertThat(statuses(there, "a")).containsOnly(0);
			this.clock.advance(Duration.ofMillis(1));
			assertThat(statuses(there, "a")).containsOnly(200);
		}));
	}

	@ParameterizedTest
	@CsvSource({ "429, Retry-After: soon", "429, X-None: 30", "200, Retry-After: 30", "500, Retry-After: 30",
			"403, X-None: 30" })
	void otherAnswersStopNoCalls(int status, String headers) {
		this.onRedis.run((context) -> {
			answer(status, headers);
			assertThat(statuses(all(context), "a", "a")).containsExactly(status, 200);
		});
	}

	@ParameterizedTest
	@EnumSource(OnStoreFailure.class)
	void waitHoldsWhenTheStoreFailsOrForgets(OnStoreFailure policy) {
		try (OwnRedis redis = OwnRedis.started()) {
			onRedis(redis.port()).withPropertyValues("ratelimit.policies.all.on-store-failure=" + policy)
				.run((context) -> {
					RestClient client = all(context);
					answer(429, "Retry-After: 600");
					await().ignoreExceptionsInstanceOf(StoreException.class).until(() -> call(client, "a") == 429);
					redis.stop();
					assertThat(statuses(client, "a")).containsOnly(0);
					redis.start();
					await().untilAsserted(() -> context.getBean(PolicyLimiter.class)
						.peek("tenants", new Identifier("code:tenant", "a")));
					assertThat(statuses(client, "a")).containsOnly(0);
					assertThat(this.received).hasValue(1);
				});
		}
	}

	/** Plain commands keep no blocks, and a store that fails keeps nothing. */
	@Test
	void instanceWaitsAloneWhenTheStoreKeepsNoWait() {
		for (ApplicationContextRunner runner : List.of(this.onCommands, onRedis(TestRedis.freePort()))) {
			this.received.set(0);
			runner.run((context) -> {
				RestClient client = tenants(context);
				answer(429, "Retry-After: 30");
				assertThat(call(client, "a")).isEqualTo(429);
				assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> call(client, "a"))
					.withMessageMatching(
							"Outgoing call denied by the policy 'tenants'; try again in ([1-9]|[12]\\d|30) s")
					.satisfies((ex) -> assertThat(ex.getDecision().source()).isEqualTo(Decision.Source.LOCAL));
				assertThat(statuses(client, "b")).containsOnly(200);
				assertThat(this.received).hasValue(2);
			});
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "mode=shadow", "enabled=false" })
	void shadowOrOffStopsNoCallsAndRemembersNoWaits(String property) {
		for (ApplicationContextRunner runner : List.of(this.onRedis, this.onCommands)) {
			runner.withPropertyValues("ratelimit.policies.all." + property).run((context) -> {
				answer(429, "Retry-After: 30");
				assertThat(statuses(all(context), "a", "a", "a", "a", "a")).containsExactly(429, 200, 200, 200, 200);
				assertThat(context.getBean(PolicyLimiter.class).peek("all").blockedFor()).isNull();
			});
		}
	}

	@Test
	void policySaysWhatHappensWhileTheStoreFails() {
		onRedis(TestRedis.freePort()).withPropertyValues("ratelimit.policies.all.on-store-failure=deny")
			.run((context) -> {
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> call(all(context), "a"));
				assertThat(this.received).hasValue(0);
			});
	}

	@Test
	void callsAreCountedByTheIdentifierOfThePolicyAlone() {
		this.onRedis.run((context) -> {
			OutgoingRateLimits limits = limits(context);
			assertThatIllegalArgumentException().isThrownBy(() -> limits.interceptor("al"))
				.withMessage("Invalid policy (al): must be one of [all, tenants]. Did you mean 'all'?");
			assertThatIllegalArgumentException().isThrownBy(() -> limits.interceptor("al", TENANT))
				.withMessageContaining("Did you mean 'all'?");
			assertThatIllegalArgumentException().isThrownBy(() -> limits.interceptor("tenants"))
				.withMessage(
						"Invalid identifiers [global] for the policy 'tenants': it counts by [code:tenant], but global is none of them.");
			RestClient wrong = client(this::request,
					limits.interceptor("tenants", (request) -> Identifier.user("anna")));
			assertThatIllegalArgumentException().isThrownBy(() -> call(wrong, "a"))
				.withMessageContaining("it counts by [code:tenant], but user is none of them.");
			assertThat(this.received).hasValue(0);
			assertThat(statuses(tenants(context), "a", "a", "b", "a", "b", "b")).containsExactly(200, 200, 200, 0, 200,
					0);
		});
	}

	@Test
	void nothingIsLimitedWhenLimitsAreOff() {
		this.runner.withConfiguration(AutoConfigurations.of(RateLimitOffAutoConfiguration.class))
			.withPropertyValues("ratelimit.enabled=false")
			.run((context) -> {
				assertThat(statuses(all(context), "a", "a", "a", "a")).containsOnly(200);
				assertThat(statuses(tenants(context), "a", "a", "a")).containsOnly(200);
			});
	}

	private static OutgoingRateLimits limits(ApplicationContext context) {
		return context.getBean(OutgoingRateLimits.class);
	}

	private RestClient all(ApplicationContext context) {
		return client(this::request, limits(context).interceptor("all"));
	}

	private RestClient tenants(ApplicationContext context) {
		return client(this::request, limits(context).interceptor("tenants", TENANT));
	}

	private static RestClient client(ClientHttpRequestFactory factory, ClientHttpRequestInterceptor interceptor) {
		return RestClient.builder().requestFactory(factory).requestInterceptor(interceptor).build();
	}

	/** Returns the statuses of the answers; 0 for a call that was not sent. */
	private static List<Integer> statuses(RestClient client, String... tenants) {
		return Stream.of(tenants).map((tenant) -> {
			try {
				return call(client, tenant);
			}
			catch (RateLimitExceededException ex) {
				return 0;
			}
		}).toList();
	}

	private static int call(RestClient client, String tenant) {
		return client.get()
			.uri(URL)
			.header("X-Tenant", tenant)
			.exchange((request, response) -> response.getStatusCode().value());
	}

	/** As in {@code docs/code.md}. */
	@ImportHttpServices(group = "remote", types = Remote.class)
	static class Services {

		@Bean
		RestClientHttpServiceGroupConfigurer limited(OutgoingRateLimits limits, ClientHttpRequestFactory service) {
			return (groups) -> groups.filterByName("remote")
				.forEachClient((group, client) -> client.requestFactory(service)
					.requestInterceptor(limits.interceptor("all")));
		}

	}

	interface Remote {

		@GetExchange(URL)
		void call();

	}

}
