package io.github.ratelimit.spring.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpServer;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.redis.PipelineRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.OutgoingCallDeniedException;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.OwnRedis;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.config.RateLimitOffAutoConfiguration;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.mock.http.client.MockClientHttpRequest;
import org.springframework.mock.http.client.MockClientHttpResponse;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Calls to another service, which runs here.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutgoingRateLimitsIT {

	private static final Function<HttpRequest, Identifier> TENANT = (request) -> new Identifier("code:tenant",
			String.valueOf(request.getHeaders().getFirst("X-Tenant")));

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	private final String prefix = TestRedis.newKeyPrefix();

	private final ConcurrentLinkedQueue<Map<String, String>> answers = new ConcurrentLinkedQueue<>();

	private final ConcurrentLinkedQueue<String> received = new ConcurrentLinkedQueue<>();

	private final ApplicationContextRunner runner = StarterRunners.nonWeb()
		.withPropertyValues("ratelimit.policies.all.limits=3/m", "ratelimit.policies.all.identifiers=global",
				"ratelimit.policies.tenants.limits=2/m", "ratelimit.policies.tenants.identifiers=code:tenant");

	private final ApplicationContextRunner onRedis = this.runner.withBean(RateLimiter.class,
			() -> RedisRateLimiter.of(TestRedis.connections(), this.prefix).withClock(this.clock));

	private HttpServer server;

	@BeforeEach
	void startServer() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.createContext("/", (exchange) -> {
			this.received.add(exchange.getRequestURI().getPath());
			Map<String, String> answer = this.answers.poll();
			if (answer != null) {
				answer.forEach(exchange.getResponseHeaders()::add);
			}
			int status = (answer != null) ? Integer.parseInt(answer.getOrDefault("X-Status", "429")) : 200;
			exchange.sendResponseHeaders(status, -1);
			exchange.close();
		});
		this.server.start();
	}

	@AfterEach
	void stopServer() {
		this.server.stop(0);
	}

	static Stream<Arguments> clients() {
		return Stream.of(client("RestClient",
				(interceptor, uri) -> RestClient.builder()
					.requestInterceptor(interceptor)
					.build()
					.get()
					.uri(uri)
					.retrieve()
					.toBodilessEntity()),
				client("RestTemplate", (interceptor, uri) -> {
					RestTemplate template = new RestTemplate();
					template.getInterceptors().add(interceptor);
					template.getForEntity(uri, String.class);
				}),
				client("@HttpExchange",
						(interceptor, uri) -> HttpServiceProxyFactory
							.builderFor(RestClientAdapter
								.create(RestClient.builder().baseUrl(uri).requestInterceptor(interceptor).build()))
							.build()
							.createClient(Remote.class)
							.call()));
	}

	private static Arguments client(String name, Client client) {
		return Arguments.argumentSet(name, client);
	}

	/** A lease knows no blocks. */
	@Test
	void waitOfAnAnswerEndsTheLeaseOfThisInstance() {
		this.onRedis
			.withPropertyValues("ratelimit.policies.leased.limits=60000/h",
					"ratelimit.policies.leased.algorithm=fixed-window", "ratelimit.policies.leased.lease=1m",
					"ratelimit.policies.leased.identifiers=global")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				RestClient client = RestClient.builder()
					.requestInterceptor(limits(context).interceptor("leased"))
					.build();
				await().untilAsserted(() -> assertThat(limiter.tryAcquire("leased").decision().source())
					.isEqualTo(Decision.Source.LEASE));
				this.answers.add(Map.of("Retry-After", "600"));
				assertThatException().isThrownBy(() -> client.get().uri(uri()).retrieve().toBodilessEntity())
					.isNotInstanceOf(RateLimitExceededException.class);
				assertThatExceptionOfType(RateLimitExceededException.class)
					.isThrownBy(() -> client.get().uri(uri()).retrieve().toBodilessEntity());
				assertThat(this.received).hasSize(1);
			});
	}

	@ParameterizedTest
	@MethodSource("clients")
	void callsAtOnceEndWithTheirAnswers(Client client) {
		this.onRedis
			.withPropertyValues("ratelimit.policies.one.concurrent=1", "ratelimit.policies.one.identifiers=global")
			.run((context) -> {
				PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
				ClientHttpRequestInterceptor interceptor = limits(context).interceptor("one");
				client.call(interceptor, uri());
				client.call(interceptor, uri());
				PolicyLimiter.Acquisition other = limiter.tryAcquire("one");
				assertThat(other.allowed()).isTrue();
				assertThatExceptionOfType(RateLimitExceededException.class)
					.isThrownBy(() -> client.call(interceptor, uri()));
				other.end();
				this.server.stop(0);
				assertThatException().isThrownBy(() -> client.call(interceptor, uri()))
					.isNotInstanceOf(RateLimitExceededException.class);
				assertThat(limiter.tryAcquire("one").allowed()).isTrue();
			});
	}

	@ParameterizedTest
	@MethodSource("clients")
	void callsBeyondTheLimitsAreNotSent(Client client) {
		this.onRedis.run((context) -> {
			ClientHttpRequestInterceptor interceptor = limits(context).interceptor("all");
			for (int i = 0; i < 3; i++) {
				client.call(interceptor, uri());
			}
			assertThatExceptionOfType(RateLimitExceededException.class)
				.isThrownBy(() -> client.call(interceptor, uri()))
				.withMessage("Outgoing call denied by the policy 'all' (3/m); try again in 60 s")
				.satisfies((ex) -> assertThat(ex.getDecision().retryAfter()).hasValue(Duration.ofMinutes(1)));
			assertThat(this.received).hasSize(3);
			this.clock.advance(Duration.ofMinutes(1));
			client.call(interceptor, uri());
			assertThat(this.received).hasSize(4);
		});
	}

	@Test
	void callsAreCountedByTheGivenIdentifier() {
		this.onRedis.run((context) -> {
			RestClient client = client(limits(context).interceptor("tenants", TENANT));
			assertThat(Stream.of("a", "a", "b", "a", "b", "b").map((tenant) -> status(client, tenant)))
				.containsExactly(200, 200, 200, 0, 200, 0);
		});
	}

	/** Instances share a wait, of that policy and identifier only. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			429 | Retry-After | 30
			503 | Retry-After | 30
			403 | Retry-After | 30
			429 | RateLimit   | "s";r=0;t=1, "m";r=0;t=30
			403 | RateLimit   | "s";r=0;t=1, "m";r=0;t=30
			""")
	void allInstancesWaitAsLongAsTheServiceAsks(String status, String header, String value) {
		this.onRedis.run((first) -> this.onRedis.run((second) -> {
			RestClient here = client(limits(first).interceptor("tenants", TENANT));
			RestClient there = client(limits(second).interceptor("tenants", TENANT));
			this.answers.add(Map.of("X-Status", status, header, value));
			assertThat(status(here, "a")).isEqualTo(Integer.parseInt(status));
			assertThat(status(here, "a")).isZero();
			assertThat(status(there, "a")).isZero();
			assertThat(status(there, "b")).isEqualTo(200);
			assertThat(this.received).hasSize(2);
			assertThat(second.getBean(BlockList.class).blocks()).isEmpty();
			assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> call(there, "a"))
				.withMessage("Outgoing call denied by the policy 'tenants'; try again in 30 s");
			this.clock.advance(Duration.ofSeconds(30).minusMillis(1));
			assertThat(status(there, "a")).isZero();
			this.clock.advance(Duration.ofMillis(1));
			assertThat(status(there, "a")).isEqualTo(200);
		}));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			429 | Retry-After | soon
			429 | X-None      | 30
			200 | Retry-After | 30
			500 | Retry-After | 30
			403 | X-None      | 30
			""")
	void otherAnswersStopNoCalls(String status, String header, String value) {
		this.onRedis.run((context) -> {
			RestClient client = client(limits(context).interceptor("all"));
			this.answers.add(Map.of("X-Status", status, header, value));
			assertThat(status(client, "a")).isEqualTo(Integer.parseInt(status));
			assertThat(status(client, "a")).isEqualTo(200);
			assertThat(context.getBean(BlockList.class).blocks()).isEmpty();
		});
	}

	@Test
	void longerWaitStays() {
		this.onRedis.run((context) -> {
			PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
			RequestedWaits waits = new RequestedWaits(limiter, context.getBean(BlockList.class), true,
					System::nanoTime);
			waits.add("all", Identifier.GLOBAL, Duration.ofSeconds(60), "first");
			waits.add("all", Identifier.GLOBAL, Duration.ofSeconds(30), "shorter");
			assertThat(limiter.peek("all").blockedFor()).isEqualTo(Duration.ofSeconds(60));
			waits.add("all", Identifier.GLOBAL, Duration.ofSeconds(90), "longer");
			assertThat(limiter.peek("all").blockedFor()).isEqualTo(Duration.ofSeconds(90));
		});
	}

	@ParameterizedTest
	@EnumSource(OnStoreFailure.class)
	void waitHoldsWhenTheStoreFailsOrForgets(OnStoreFailure policy) {
		try (OwnRedis redis = OwnRedis.started()) {
			this.runner.withPropertyValues("ratelimit.policies.all.on-store-failure=" + policy)
				.withBean(RateLimiter.class, () -> RedisRateLimiter
					.of(RedisConnections.client(RedisClient.create("127.0.0.1", redis.port())).build(), this.prefix))
				.run((context) -> {
					RestClient client = client(limits(context).interceptor("all"));
					this.answers.add(Map.of("Retry-After", "600"));
					await().ignoreExceptionsInstanceOf(StoreException.class).until(() -> status(client, "a") == 429);
					redis.stop();
					assertThat(status(client, "a")).isZero();
					redis.start();
					await().untilAsserted(() -> context.getBean(PolicyLimiter.class)
						.peek("tenants", new Identifier("code:tenant", "a")));
					assertThat(status(client, "a")).isZero();
					assertThat(this.received).hasSize(1);
				});
		}
	}

	/** As GitHub does: when the quota is used up, with 403, or 429. */
	@ParameterizedTest
	@ValueSource(ints = { 403, 429, 503 })
	void serviceWithoutQuotaIsNotCalledUntilItsReset(int status) {
		this.onRedis.withPropertyValues("ratelimit.policies.all.limits=1000/m").run((context) -> {
			PolicyLimiter limiter = context.getBean(PolicyLimiter.class);
			Instant start = this.clock.instant();
			RequestedWaits waits = new RequestedWaits(limiter, context.getBean(BlockList.class), true,
					() -> Duration.between(start, this.clock.instant()).toNanos());
			ClientHttpRequestInterceptor interceptor = new PolicyOutgoingLimits(
					context.getBean(ConfiguredPolicies.class), UnaryOperator.identity(), limiter,
					() -> context.getBean(PolicyEnforcer.class), waits, this.clock)
				.interceptor("all");
			List<Long> sent = new ArrayList<>();
			for (int second = 0; second < 70; second++) {
				try {
					interceptor.intercept(new MockClientHttpRequest(), new byte[0], (request, body) -> {
						sent.add(Duration.between(start, this.clock.instant()).toSeconds());
						MockClientHttpResponse response = new MockClientHttpResponse(new byte[0], status);
						response.getHeaders().set("x-ratelimit-remaining", "0");
						response.getHeaders()
							.set("x-ratelimit-reset", Long.toString(this.clock.instant().getEpochSecond() + 60));
						return response;
					});
				}
				catch (OutgoingCallDeniedException ex) {
					assertThat(ex.getDecision().retryAfter()).hasValue(Duration.ofSeconds(60 - second % 60));
				}
				this.clock.advance(Duration.ofSeconds(1));
			}
			assertThat(sent).containsExactly(0L, 60L);
		});
	}

	/** Plain commands keep no blocks. */
	@Test
	void instanceWaitsAloneWhenTheStoreKeepsNoBlocks() {
		this.runner.withBean(RateLimiter.class, () -> PipelineRateLimiter.of(TestRedis.connections(), this.prefix))
			.run(this::assertThatThisInstanceWaits);
	}

	@Test
	void instanceWaitsAloneWhileTheStoreFails() {
		this.runner.withBean(RateLimiter.class, () -> RedisRateLimiter
			.of(RedisConnections.client(RedisClient.create("127.0.0.1", TestRedis.freePort())).build(), this.prefix))
			.run(this::assertThatThisInstanceWaits);
	}

	private void assertThatThisInstanceWaits(ApplicationContext context) {
		RestClient client = client(limits(context).interceptor("tenants", TENANT));
		this.answers.add(Map.of("Retry-After", "30"));
		assertThat(status(client, "a")).isEqualTo(429);
		assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> call(client, "a"))
			.withMessageMatching("Outgoing call denied by the policy 'tenants'; try again in [1-9]\\d* s")
			.satisfies((ex) -> assertThat(ex.getDecision().source()).isEqualTo(Decision.Source.LOCAL))
			.satisfies((ex) -> assertThat(ex.getDecision().retryAfter().orElseThrow()).isBetween(Duration.ofSeconds(1),
					Duration.ofSeconds(30)));
		assertThat(status(client, "b")).isEqualTo(200);
		assertThat(this.received).hasSize(2);
	}

	@Test
	void waitInMemoryEnds() {
		long[] time = { Long.MAX_VALUE - 5 };
		RequestedWaits waits = new RequestedWaits(null, null, true, () -> time[0]);
		waits.add("all", Identifier.GLOBAL, Duration.ofSeconds(30), "");
		waits.add("all", Identifier.GLOBAL, Duration.ofSeconds(5), "shorter");
		assertThat(waits.remaining("all", Identifier.GLOBAL)).isEqualTo(Duration.ofSeconds(30));
		assertThat(waits.remaining("other", Identifier.GLOBAL)).isNull();
		time[0] += Duration.ofSeconds(30).toNanos() - 1;
		assertThat(waits.remaining("all", Identifier.GLOBAL)).isEqualTo(Duration.ofNanos(1));
		time[0]++;
		assertThat(waits.remaining("all", Identifier.GLOBAL)).isNull();
	}

	@Test
	void shadowStopsNoCallsAndRemembersNoWaits(CapturedOutput output) {
		Consumer<ApplicationContext> test = (context) -> {
			RestClient client = client(limits(context).interceptor("all"));
			this.answers.add(Map.of("Retry-After", "30"));
			assertThat(status(client, "a")).isEqualTo(429);
			assertThat(context.getBean(PolicyLimiter.class).peek("all").blockedFor()).isNull();
			assertThat(output).doesNotContain("denies the calls of an identifier");
			assertThat(Stream.of("a", "a", "a", "a").map((tenant) -> status(client, tenant))).containsOnly(200);
		};
		this.onRedis.withPropertyValues("ratelimit.policies.all.mode=shadow").run(test::accept);
		this.runner.withPropertyValues("ratelimit.policies.all.mode=shadow")
			.withBean(RateLimiter.class, () -> PipelineRateLimiter.of(TestRedis.connections(), this.prefix))
			.run(test::accept);
	}

	@Test
	void policySaysWhatHappensWhileTheStoreFails() {
		this.runner.withPropertyValues("ratelimit.policies.all.on-store-failure=deny")
			.withBean(RateLimiter.class,
					() -> RedisRateLimiter.of(
							RedisConnections.client(RedisClient.create("127.0.0.1", TestRedis.freePort())).build(),
							this.prefix))
			.run((context) -> {
				RestClient client = client(limits(context).interceptor("all"));
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> call(client, "a"));
				assertThat(this.received).isEmpty();
			});
	}

	@Test
	void policyThatCannotCountCallsIsRefused() {
		this.onRedis.run((context) -> {
			OutgoingRateLimits limits = limits(context);
			assertThatIllegalArgumentException().isThrownBy(() -> limits.interceptor("al"))
				.withMessage("Invalid policy (al): must be one of [all, tenants]. Did you mean 'all'?");
			assertThatIllegalArgumentException().isThrownBy(() -> limits.interceptor("al", TENANT))
				.withMessageContaining("Did you mean 'all'?");
			assertThatIllegalArgumentException().isThrownBy(() -> limits.interceptor("tenants"))
				.withMessage(
						"Invalid identifiers [global] for the policy 'tenants': it counts by [code:tenant], but global is none of them.");
			RestClient wrong = client(limits.interceptor("tenants", (request) -> Identifier.user("anna")));
			assertThatIllegalArgumentException().isThrownBy(() -> call(wrong, "a"))
				.withMessageContaining("it counts by [code:tenant], but user is none of them.");
			assertThat(this.received).isEmpty();
		});
	}

	@Test
	void nothingIsLimitedWhenLimitsAreOff() {
		this.runner.withConfiguration(AutoConfigurations.of(RateLimitOffAutoConfiguration.class))
			.withPropertyValues("ratelimit.enabled=false")
			.run((context) -> {
				RestClient client = client(limits(context).interceptor("all"));
				assertThat(Stream.of("a", "a", "a", "a").map((tenant) -> status(client, tenant))).containsOnly(200);
				assertThat(status(client(limits(context).interceptor("tenants", TENANT)), "a")).isEqualTo(200);
			});
	}

	private static OutgoingRateLimits limits(ApplicationContext context) {
		return context.getBean(OutgoingRateLimits.class);
	}

	private static RestClient client(ClientHttpRequestInterceptor interceptor) {
		return RestClient.builder().requestInterceptor(interceptor).build();
	}

	private String uri() {
		return "http://127.0.0.1:" + this.server.getAddress().getPort() + "/";
	}

	/** Returns the status of the answer; 0 if the call was not sent. */
	private int status(RestClient client, String tenant) {
		try {
			return call(client, tenant);
		}
		catch (RateLimitExceededException ex) {
			return 0;
		}
	}

	private int call(RestClient client, String tenant) {
		return client.get()
			.uri(uri())
			.header("X-Tenant", tenant)
			.exchange((request, response) -> response.getStatusCode().value());
	}

	@FunctionalInterface
	interface Client {

		void call(ClientHttpRequestInterceptor interceptor, String uri);

	}

	interface Remote {

		@GetExchange
		void call();

	}

}
