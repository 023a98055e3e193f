package io.github.ratelimit.spring.chaos;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Instances that share a limit of concurrent calls: under load, and when one of them is
 * killed.
 */
class ConcurrentCallsIT {

	private static final Logger logger = LoggerFactory.getLogger(ConcurrentCallsIT.class);

	private static final int QUOTA = 5;

	private static final int CONNECTIONS = 400;

	private static final int REQUESTS = Integer.getInteger("ratelimit.calls.requests", 3_000);

	private static final Duration SOON = Duration.ofSeconds(30);

	/** How many calls run in all instances of this process, and the most so far. */
	private static final AtomicInteger running = new AtomicInteger();

	private static final AtomicInteger most = new AtomicInteger();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	@Test
	void noMoreThanTheQuotaRunAtOnce() throws Exception {
		Map<Integer, LongAdder> statuses = new ConcurrentHashMap<>();
		Semaphore free = new Semaphore(CONNECTIONS);
		try (ConfigurableApplicationContext one = start("1m"); ConfigurableApplicationContext two = start("1m")) {
			List<URI> addresses = List.of(Fleet.address(one, "/work"), Fleet.address(two, "/work"));
			for (int i = 0; i < REQUESTS; i++) {
				assertThat(free.tryAcquire(5, TimeUnit.MINUTES)).isTrue();
				this.http.sendAsync(HttpRequest.newBuilder(addresses.get(i % 2)).build(), BodyHandlers.discarding())
					.thenAccept((response) -> statuses.computeIfAbsent(response.statusCode(), (key) -> new LongAdder())
						.increment())
					.whenComplete((answered, failure) -> free.release());
			}
			assertThat(free.tryAcquire(CONNECTIONS, 5, TimeUnit.MINUTES)).as("all are answered").isTrue();
			logger.info("{} connections: statuses {}, at most {} at once", CONNECTIONS, statuses, most);
			assertThat(statuses.keySet()).containsExactlyInAnyOrder(200, 429);
			assertThat(statuses.values().stream().mapToLong(LongAdder::sum).sum()).isEqualTo(REQUESTS);
			assertThat(most.get()).isEqualTo(QUOTA);
			await().atMost(SOON).until(() -> remaining(one) == QUOTA);
		}
	}

	/**
	 * Its calls are renewed while it lives, and free a lease after it died; before, not
	 * one more than the quota runs.
	 */
	@Test
	void callsOfAKilledInstanceEndWithTheirLease() throws Exception {
		Process doomed = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Dspring.devtools.restart.enabled=false", "-cp", System.getProperty("java.class.path"),
				ConcurrentCallsIT.class.getName(), TestRedis.uri().toString(), this.keyPrefix)
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		try (ConfigurableApplicationContext survivor = start("2s")) {
			URI work = Fleet.address(survivor, "/work");
			await().atMost(Duration.ofMinutes(2)).until(() -> remaining(survivor) == 0);
			// Two leases, during which the calls are renewed.
			await().during(Duration.ofSeconds(4)).atMost(SOON).until(() -> get(work) == 429);
			assertThat(doomed.isAlive()).isTrue();
			long killed = System.nanoTime();
			doomed.destroyForcibly().waitFor();
			await().atMost(SOON).until(() -> get(work) == 200);
			logger.info("Free {} ms after the instance was killed",
					TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killed));
			await().atMost(SOON).until(() -> remaining(survivor) == QUOTA);
		}
		finally {
			doomed.destroyForcibly();
		}
	}

	/** The instance that is killed, whose calls never end. */
	public static void main(String[] args) throws Exception {
		ConfigurableApplicationContext instance = start(args[0], args[1], "2s");
		HttpClient http = HttpClient.newHttpClient();
		for (int i = 0; i < QUOTA; i++) {
			http.sendAsync(HttpRequest.newBuilder(Fleet.address(instance, "/endless")).build(),
					BodyHandlers.discarding());
		}
		new CountDownLatch(1).await();
	}

	private ConfigurableApplicationContext start(String lease) {
		return start(TestRedis.uri().toString(), this.keyPrefix, lease);
	}

	private static ConfigurableApplicationContext start(String redis, String keyPrefix, String lease) {
		return new SpringApplicationBuilder(Application.class)
			.properties("server.port=0", "spring.main.banner-mode=off", "server.tomcat.accept-count=1000",
					"ratelimit.redis.url=" + redis, "ratelimit.key-prefix=" + keyPrefix, "ratelimit.redis.timeout=20s",
					"server.shutdown=immediate", "ratelimit.policies.api.paths=/**",
					"ratelimit.policies.api.concurrent=" + QUOTA, "ratelimit.policies.api.concurrent-lease=" + lease,
					"ratelimit.policies.api.identifiers=ip")
			.run();
	}

	private int get(URI address) {
		return this.http.sendAsync(HttpRequest.newBuilder(address).build(), BodyHandlers.discarding())
			.join()
			.statusCode();
	}

	private static long remaining(ConfigurableApplicationContext instance) {
		Policy policy = instance.getBean(ConfiguredPolicies.class).find("api").orElseThrow().policy();
		return instance.getBean(RateLimiter.class)
			.peek(RateLimitRequest.of(policy, Identifier.ip("127.0.0.1")))
			.statuses()
			.get(0)
			.remaining();
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/work")
		void work() {
			most.accumulateAndGet(running.incrementAndGet(), Math::max);
			LockSupport.parkNanos(2_000_000);
			running.decrementAndGet();
		}

		@GetMapping("/endless")
		void endless() throws InterruptedException {
			new CountDownLatch(1).await();
		}

	}

}
