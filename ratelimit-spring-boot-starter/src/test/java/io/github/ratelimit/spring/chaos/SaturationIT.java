package io.github.ratelimit.spring.chaos;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.redis.RedisListener;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with more load than its machine can bear, and a healthy Redis. Load is
 * no outage: Redis or the application itself decides every request, nothing passes
 * without a limit, and Redis is never unavailable.
 */
class SaturationIT {

	private static final Logger logger = LoggerFactory.getLogger(SaturationIT.class);

	/** How many requests each scenario sends, at least two for each connection. */
	private static final int REQUESTS = Math.toIntExact(5 * Trial.REQUESTS);

	private static final int QUOTA = 240;

	/**
	 * Redis shares the processors with this load and other tests, and may have to wait
	 * for them longer than the default of 100 ms, with which nightly builds run.
	 */
	private static final Duration BUDGET = Duration.ofMillis(Integer.getInteger("ratelimit.saturation.budget", 300));

	/** Ordinary builds assert what does not depend on the machine. */
	private static final boolean TIMED = Integer.getInteger("ratelimit.saturation.budget") != null;

	/** How many threads of the server decide at the same time. */
	private static final int THREADS = 200;

	/**
	 * How often a decision may wait for a processor: in the thread of its caller until it
	 * is submitted, in the thread that sends it, and in that of its caller again.
	 */
	private static final int WAITS = 3;

	/**
	 * What so many percent of all decisions do besides waiting, with hundreds of others;
	 * the slowest one may load classes and compose scripts.
	 */
	private static final Map<Integer, Duration> WORK = Map.of(50, Duration.ofMillis(500), 99, Duration.ofSeconds(2),
			100, Duration.ofSeconds(4));

	/** Longer than the budget, so that what was sent is unanswered when it is over. */
	private static final Duration PAUSE = BUDGET.multipliedBy(3).dividedBy(2);

	private static int port;

	private static RedisServer server;

	@BeforeAll
	static void start() {
		port = TestRedis.freePort();
		server = TestRedis.startServer(port);
	}

	@AfterAll
	static void stop() {
		TestRedis.stop(server);
	}

	/**
	 * Connections of the application are given back after each batch, with their own
	 * timeout. JDK 17 has no virtual threads: there are as many as usual then.
	 */
	@ParameterizedTest
	@CsvSource({ "32, test=", "200, test=", "400, test=", THREADS + ", ratelimit.redis.client=mine",
			"1000, spring.threads.virtual.enabled=true server.tomcat.max-connections=2000" })
	void nothingPassesUnlimitedOverManyConnections(int connections, String properties) {
		try (ConfigurableApplicationContext application = application(port, properties.split(" "))) {
			load(application, connections, () -> {
			});
		}
	}

	/** The first requests come before a class is compiled. */
	@Test
	void nothingPassesUnlimitedInANewProcess(@TempDir Path folder) throws Exception {
		Path output = folder.resolve("output");
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Dratelimit.saturation.budget=" + BUDGET.toMillis(), "-Dspring.devtools.restart.enabled=false", "-cp",
				System.getProperty("java.class.path"), SaturationIT.class.getName(), String.valueOf(port))
			.redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		try {
			assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
			String text = Files.readString(output);
			logger.info("In a new process: {}", text);
			assertThat(process.exitValue()).as(text).isZero();
			assertThat(text).contains(" connections: statuses ");
		}
		finally {
			process.destroyForcibly();
		}
	}

	@Test
	void nothingPassesUnlimitedAfterThePauseOfACollector() {
		try (ConfigurableApplicationContext application = application(port)) {
			load(application, 200, SaturationIT::pauseThisProcess);
		}
	}

	@Test
	void nothingPassesUnlimitedOnBusyCores() {
		AtomicBoolean done = new AtomicBoolean();
		ExecutorService spinners = Executors.newCachedThreadPool();
		try (ConfigurableApplicationContext application = application(port)) {
			for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
				spinners.execute(() -> {
					while (!done.get()) {
						Thread.onSpinWait();
					}
				});
			}
			load(application, 64, () -> {
			});
		}
		finally {
			done.set(true);
			spinners.shutdown();
		}
	}

	/** Each application is new, and has decided nothing but what warms it up. */
	private static ConfigurableApplicationContext application(int port, String... properties) {
		return new SpringApplicationBuilder(Application.class).properties("server.port=0",
				"spring.main.banner-mode=off", "test.redis.port=" + port, "server.tomcat.accept-count=1000",
				"server.tomcat.threads.max=" + THREADS, "spring.data.redis.url=redis://127.0.0.1:" + port,
				"ratelimit.redis.timeout=" + BUDGET.toMillis() + "ms", "ratelimit.policies.api.paths=/api",
				"ratelimit.policies.api.limits=" + QUOTA + "/h", "ratelimit.policies.api.identifiers=header:X-User",
				"ratelimit.policies.api.on-store-failure=allow", "ratelimit.policies.total.on-store-failure=allow",
				"ratelimit.policies.total.paths=/api", "ratelimit.policies.total.algorithm=fixed-window",
				"ratelimit.policies.total.limits=1000000000/h", "ratelimit.policies.total.identifiers=header:X-Total")
			.properties(properties)
			.run();
	}

	/** Half of the requests are of one client, and half of clients that come once. */
	private static void load(ConfigurableApplicationContext application, int connections, Runnable meanwhile) {
		URI address = Fleet.address(application, "/api");
		Decisions decisions = application.getBean(Decisions.class);
		String client = UUID.randomUUID().toString();
		LongAdder served = new LongAdder();
		Map<Integer, LongAdder> statuses = new ConcurrentHashMap<>();
		int requests = Math.max(2 * connections, REQUESTS);
		Semaphore free = new Semaphore(connections);
		HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		Sleepers sleepers = new Sleepers(Math.min(connections, THREADS), BUDGET);
		try (sleepers) {
			for (int i = 0; i < requests; i++) {
				if (i == requests / 2) {
					meanwhile.run();
				}
				boolean busy = i % 2 == 0;
				HttpRequest request = HttpRequest.newBuilder(address)
					.header("X-User", busy ? client : UUID.randomUUID().toString())
					.header("X-Total", client)
					.build();
				assertThat(free.tryAcquire(2, TimeUnit.MINUTES)).isTrue();
				http.sendAsync(request, BodyHandlers.discarding()).thenAccept((response) -> {
					statuses.computeIfAbsent(response.statusCode(), (key) -> new LongAdder()).increment();
					if (busy && response.statusCode() == 200) {
						served.increment();
					}
				}).whenComplete((answered, failure) -> free.release());
			}
			assertThat(free.tryAcquire(connections, 2, TimeUnit.MINUTES)).as("all are answered").isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		logger.info("{} connections: statuses {}, {} of one client served, {}; slept {} ms, at most {} ms", connections,
				statuses, served, decisions, sleepers.percentile(99).toMillis(), sleepers.percentile(100).toMillis());
		assertThat(statuses.keySet()).isSubsetOf(200, 429);
		assertThat(statuses.values().stream().mapToLong(LongAdder::sum).sum()).as("answers").isEqualTo(requests);
		assertThat(decisions.sources.keySet()).as("who decided")
			.isSubsetOf(Source.STORE, Source.LOCAL, Source.DENIAL_CACHE);
		assertThat(decisions.by(Source.STORE)).as("decided by Redis").isPositive();
		assertThat(decisions.ofClients.sum()).as("requests that were limited").isEqualTo(requests);
		assertThat(served.sum()).as("requests of one client").isBetween((long) QUOTA, 2L * QUOTA);
		if (TIMED) {
			assertTimes(decisions, sleepers);
		}
	}

	/**
	 * How long it takes, and how much Redis decides, depends on what else the machine
	 * does.
	 */
	private static void assertTimes(Decisions decisions, Sleepers sleepers) {
		assertThat(decisions.by(Source.STORE)).as("decided by Redis").isGreaterThan(decisions.by(Source.LOCAL));
		WORK.forEach((percent, work) -> assertThat(decisions.percentile(percent)).as("%d %% of decisions", percent)
			.isLessThan(BUDGET.plus(sleepers.percentile(percent).minus(BUDGET).multipliedBy(WAITS)).plus(work)));
		assertThat(decisions.opened.sum()).as("times that Redis counted as gone").isZero();
	}

	/** What a collector that stops the world does, but for all that this process is. */
	private static void pauseThisProcess() {
		long id = ProcessHandle.current().pid();
		try {
			new ProcessBuilder("sh", "-c",
					"kill -STOP %d; sleep %s; kill -CONT %d".formatted(id, PAUSE.toMillis() / 1000.0, id))
				.inheritIO()
				.start()
				.waitFor();
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** An application with as many callers as it has threads, once it has started. */
	public static void main(String[] arguments) {
		try (ConfigurableApplicationContext application = application(Integer.parseInt(arguments[0]))) {
			load(application, THREADS, () -> {
			});
		}
	}

	/** Who decided, and how long that took; from memory it takes no time. */
	static final class Decisions implements DecisionListener, RedisListener {

		private final Map<Source, LongAdder> sources = new ConcurrentHashMap<>();

		private final LongAdder ofClients = new LongAdder();

		private final LongAdder opened = new LongAdder();

		private final Queue<Long> nanos = new ConcurrentLinkedQueue<>();

		@Override
		public void decided(PolicyDecision decision) {
			this.sources.computeIfAbsent(decision.source(), (key) -> new LongAdder()).increment();
			if (decision.policy().policy().name().equals("api")) {
				if (decision.source() != Source.DENIAL_CACHE) {
					this.nanos.add(decision.time().toNanos());
				}
				this.ofClients.increment();
			}
		}

		@Override
		public void stoppedAnswering(String server, Throwable reason) {
			logger.warn("{} stopped answering", server, reason);
			this.opened.increment();
		}

		long by(Source source) {
			LongAdder decisions = this.sources.get(source);
			return (decisions != null) ? decisions.sum() : 0;
		}

		Duration percentile(int percent) {
			return Sleepers.percentile(this.nanos, percent);
		}

		@Override
		public String toString() {
			return "decisions by %s in %d ms (median) and %d ms (99 %%), the slowest in %d ms, Redis counted as gone %s times"
				.formatted(this.sources, percentile(50).toMillis(), percentile(99).toMillis(),
						percentile(100).toMillis(), this.opened);
		}

	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/api")
		String get() {
			return "served";
		}

		@Bean
		Decisions decisions() {
			return new Decisions();
		}

		/** Used if it is named. */
		@Bean
		@Lazy
		UnifiedJedis mine(@Value("${test.redis.port}") int port) {
			return RedisClient.create("127.0.0.1", port);
		}

	}

}
