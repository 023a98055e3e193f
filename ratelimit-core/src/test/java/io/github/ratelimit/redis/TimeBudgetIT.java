package io.github.ratelimit.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.SSLSocketFactory;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.NeedsJedis72;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.TricklingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.util.Pool;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Decisions end in time, whatever Redis does. What has no bound would take for ever, so
 * that a generous one proves enough.
 */
@Timeout(120)
@SuppressWarnings("try")
@NeedsJedis72
class TimeBudgetIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private static final Duration CEILING = Duration.ofSeconds(5);

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), new Limit(1000, Limit.MAX_WINDOW));

	private static final RateLimitRequest REQUEST = RateLimitRequest.of(POLICY, Identifier.user("alice"));

	@ParameterizedTest
	@ValueSource(strings = { "PT0.001999S", "PT0S", "-PT1S", "PT1H0.001S" })
	void budgetOutOfRangeIsRefused(Duration budget) {
		HostAndPort address = new HostAndPort("127.0.0.1", 1);
		DefaultJedisClientConfig config = DefaultJedisClientConfig.builder().build();
		assertThatIllegalArgumentException().isThrownBy(() -> new TimeBudget(budget, address, config))
			.withMessage("Invalid time budget (%s): must be from 2ms to 1h.".formatted(budget));
	}

	@Test
	void sslOptionsAreRefused() {
		HostAndPort address = new HostAndPort("127.0.0.1", 1);
		DefaultJedisClientConfig config = DefaultJedisClientConfig.builder()
			.sslOptions(SslOptions.builder().build())
			.build();
		assertThatIllegalArgumentException().isThrownBy(() -> new TimeBudget(Duration.ofSeconds(1), address, config))
			.withMessageContaining("SSL options are not supported");
	}

	@Test
	void decisionsAreMadeWithinTheBudget() {
		try (Client client = new Client(TestRedis.uri().getPort(), TestRedis.uri().getHost(), Duration.ofMinutes(1))) {
			RateLimiter limiter = client.limit();
			assertThat(limiter.tryAcquire(REQUEST).statuses().get(0).remaining()).isEqualTo(999);
			limiter.charge(REQUEST);
			limiter.refund(REQUEST);
			assertThat(limiter.peek(REQUEST).statuses().get(0).remaining()).isEqualTo(999);
			limiter.reset(POLICY, Identifier.user("alice"));
			assertThat(limiter.peek(REQUEST).statuses().get(0).remaining()).isEqualTo(1000);
		}
	}

	@Test
	void callsEndWhenTheServerHangs() {
		int port = TestRedis.freePort();
		RedisServer server = TestRedis.startServer(port);
		try (Client client = new Client(port)) {
			RateLimiter limiter = client.limit();
			limiter.tryAcquire(REQUEST);
			try (StoppedServer stopped = StoppedServer.stop(client.jedis)) {
				// The first on a connection that there is, the others on new ones.
				assertFails(RedisErrorKind.TIMEOUT, () -> limiter.tryAcquire(REQUEST));
				assertFails(RedisErrorKind.TIMEOUT, () -> limiter.peek(REQUEST));
				assertFails(RedisErrorKind.TIMEOUT, () -> limiter.refund(REQUEST));
				assertFails(RedisErrorKind.TIMEOUT, () -> limiter.charge(REQUEST));
				assertFails(RedisErrorKind.TIMEOUT, () -> limiter.reset(POLICY, Identifier.user("alice")));
			}
			assertThat(limiter.tryAcquire(REQUEST).allowed()).isTrue();
		}
		finally {
			TestRedis.stop(server);
		}
	}

	@Test
	void callsOfTheClientItselfEndWhenTheServerHangs() {
		int port = TestRedis.freePort();
		RedisServer server = TestRedis.startServer(port);
		try (Client client = new Client(port); StoppedServer stopped = StoppedServer.stop(client.jedis)) {
			assertFails(RedisErrorKind.TIMEOUT, () -> RedisRateLimiter.of(client.jedis).tryAcquire(REQUEST));
		}
		finally {
			TestRedis.stop(server);
		}
	}

	@Test
	void callsEndWhenTheServerTakesNoConnections() throws IOException {
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			List<Socket> waiting = fill(server);
			try (Client client = new Client(server.getLocalPort())) {
				assertFails(RedisErrorKind.TIMEOUT, () -> client.limit().tryAcquire(REQUEST));
			}
			finally {
				for (Socket socket : waiting) {
					socket.close();
				}
			}
		}
	}

	/** Connects until nobody can. */
	private static List<Socket> fill(ServerSocket server) throws IOException {
		List<Socket> waiting = new ArrayList<>();
		while (waiting.size() < 100) {
			Socket socket = new Socket();
			waiting.add(socket);
			try {
				socket.connect(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()), 500);
			}
			catch (SocketTimeoutException ex) {
				return waiting;
			}
		}
		throw new IllegalStateException("The server takes any number of connections");
	}

	@Test
	void callsEndWhenThereAreMoreOfThemThanConnections() throws Exception {
		int port = TestRedis.freePort();
		RedisServer server = TestRedis.startServer(port);
		ExecutorService threads = Executors.newFixedThreadPool(80);
		try (Client client = new Client(port); StoppedServer stopped = StoppedServer.stop(client.jedis)) {
			RateLimiter limiter = client.limit();
			List<Callable<RedisErrorKind>> calls = new ArrayList<>();
			for (int i = 0; i < 80; i++) {
				calls.add(() -> {
					long start = System.nanoTime();
					try {
						limiter.tryAcquire(REQUEST);
						throw new IllegalStateException("A hanging server answered");
					}
					catch (StoreException ex) {
						assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CEILING);
						return RedisErrorKind.of(ex);
					}
				});
			}
			List<RedisErrorKind> kinds = new ArrayList<>();
			for (Future<RedisErrorKind> call : threads.invokeAll(calls)) {
				kinds.add(call.get());
			}
			assertThat(kinds).contains(RedisErrorKind.TIMEOUT)
				.allSatisfy((kind) -> assertThat(kind.isOutage()).isTrue());
		}
		finally {
			threads.shutdown();
			TestRedis.stop(server);
		}
	}

	/** Time-outs of a client would begin again with each byte. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callsEndWhenTheServerAnswersByteByByte(boolean encrypted) throws IOException {
		try (TricklingServer server = new TricklingServer(encrypted);
				Client client = new Client(server.port(), "127.0.0.1", Duration.ofSeconds(2), encrypted)) {
			assertFails(RedisErrorKind.TIMEOUT, () -> client.limit().tryAcquire(REQUEST));
		}
	}

	@Test
	void callsEndWhenConnectionsAreMadeElsewhere() throws IOException {
		DefaultJedisClientConfig config = DefaultJedisClientConfig.builder().build();
		Duration duration = Duration.ofSeconds(2);
		try (TricklingServer server = new TricklingServer(false)) {
			TimeBudget budget = new TimeBudget(duration,
					new PooledConnectionProvider(new ConnectionFactory(
							TimeBudget.sockets(duration, () -> new HostAndPort("127.0.0.1", server.port()), config),
							config)),
					config);
			try (UnifiedJedis jedis = budget.client()) {
				RateLimiter limiter = budget.limit(RedisRateLimiter.of(jedis));
				assertFails(RedisErrorKind.TIMEOUT, () -> limiter.tryAcquire(REQUEST));
			}
		}
	}

	@Test
	void connectionsAreAsManyAsThePoolSaysAndAreNotWaitedForLonger() {
		ConnectionPoolConfig settings = new ConnectionPoolConfig();
		settings.setMaxTotal(1);
		settings.setMaxWait(Duration.ofHours(1));
		TimeBudget budget = new TimeBudget(BUDGET,
				new HostAndPort(TestRedis.uri().getHost(), TestRedis.uri().getPort()),
				DefaultJedisClientConfig.builder().build(), settings);
		try (UnifiedJedis jedis = budget.client(); Connection held = ((RedisClient) jedis).getPool().getResource()) {
			RateLimiter limiter = budget.limit(RedisRateLimiter.of(jedis, TestRedis.newKeyPrefix()));
			assertFails(RedisErrorKind.POOL_EXHAUSTED, () -> limiter.tryAcquire(REQUEST));
		}
	}

	/** The text of a script, after its hash, which the server does not know. */
	@Test
	void connectionForWhatIsSentNextIsWaitedForNoLongerThanTheBudget() throws Exception {
		Duration duration = Duration.ofSeconds(4);
		ConnectionPoolConfig settings = new ConnectionPoolConfig();
		settings.setMaxTotal(1);
		settings.setFairness(true);
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch never = new CountDownLatch(1);
		ExecutorService threads = Executors.newSingleThreadExecutor();
		try (AnsweringServer server = new AnsweringServer("EVALSHA", "-NOSCRIPT unknown\r\n", () -> {
			asked.countDown();
			await(never, duration.dividedBy(4).multipliedBy(3));
		})) {
			TimeBudget budget = new TimeBudget(duration, new HostAndPort("127.0.0.1", server.uri().getPort()),
					DefaultJedisClientConfig.builder().build(), settings);
			try (UnifiedJedis jedis = budget.client()) {
				// Takes the connection between the hash and the text.
				Future<Connection> taken = threads.submit(() -> {
					await(asked, CEILING);
					return ((RedisClient) jedis).getPool().getResource();
				});
				long start = System.nanoTime();
				RateLimiter limiter = budget.limit(RedisRateLimiter.of(jedis));
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(REQUEST))
					.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.POOL_EXHAUSTED));
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(duration.minusMillis(100),
						duration.plusSeconds(2));
				taken.get().close();
			}
		}
		finally {
			threads.shutdown();
		}
	}

	private static void await(CountDownLatch latch, Duration longest) {
		try {
			latch.await(longest.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The pool takes the interrupt away; whoever sent it still has to be obeyed. */
	@Test
	void threadThatWasInterruptedStaysSo() {
		ConnectionPoolConfig settings = new ConnectionPoolConfig();
		settings.setMaxTotal(1);
		TimeBudget budget = new TimeBudget(Duration.ofMinutes(1),
				new HostAndPort(TestRedis.uri().getHost(), TestRedis.uri().getPort()),
				DefaultJedisClientConfig.builder().build(), settings);
		try (UnifiedJedis jedis = budget.client(); Connection held = ((RedisClient) jedis).getPool().getResource()) {
			RateLimiter limiter = budget.limit(RedisRateLimiter.of(jedis, TestRedis.newKeyPrefix()));
			Thread.currentThread().interrupt();
			assertFails(RedisErrorKind.INTERRUPTED, () -> limiter.tryAcquire(REQUEST));
			assertThat(Thread.interrupted()).isTrue();
		}
	}

	@Test
	void addressIsMappedAsTheConfigurationSays() {
		TimeBudget budget = new TimeBudget(Duration.ofSeconds(30), new HostAndPort("example.invalid", 1),
				DefaultJedisClientConfig.builder()
					.hostAndPortMapper(
							(address) -> new HostAndPort(TestRedis.uri().getHost(), TestRedis.uri().getPort()))
					.build());
		try (UnifiedJedis jedis = budget.client()) {
			assertThat(budget.limit(RedisRateLimiter.of(jedis, TestRedis.newKeyPrefix())).tryAcquire(REQUEST).allowed())
				.isTrue();
		}
	}

	@Test
	void connectionIsClosedWhenItCannotBeEncryptedForWhateverReason() throws IOException {
		SSLSocketFactory broken = new BrokenSslSocketFactory();
		try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"))) {
			JedisSocketFactory sockets = TimeBudget.sockets(BUDGET,
					() -> new HostAndPort("127.0.0.1", server.getLocalPort()),
					DefaultJedisClientConfig.builder().ssl(true).sslSocketFactory(broken).build());
			assertThatIllegalStateException().isThrownBy(sockets::createSocket);
			try (Socket accepted = server.accept()) {
				accepted.setSoTimeout((int) CEILING.toMillis());
				assertThatExceptionOfType(SocketException.class).isThrownBy(accepted.getInputStream()::read)
					.withMessageContaining("reset");
			}
		}
	}

	/**
	 * A slow command should not cost all connections, and a server that is gone should.
	 */
	@Test
	void idleConnectionsAreClosedAfterFiveTimeoutsInARow() {
		int port = TestRedis.freePort();
		RedisServer server = TestRedis.startServer(port);
		try (Client client = new Client(port)) {
			RateLimiter limiter = client.limit();
			Pool<Connection> pool = ((RedisClient) client.jedis).getPool();
			List<Connection> connections = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				connections.add(pool.getResource());
			}
			connections.forEach(Connection::close);
			try (StoppedServer stopped = StoppedServer.stop(client.jedis)) {
				assertFails(RedisErrorKind.TIMEOUT, () -> limiter.tryAcquire(REQUEST));
			}
			assertThat(pool.getNumIdle()).isGreaterThanOrEqualTo(8);
			limiter.tryAcquire(REQUEST);
			try (StoppedServer stopped = StoppedServer.stop(client.jedis)) {
				for (int i = 0; i < 4; i++) {
					assertFails(RedisErrorKind.TIMEOUT, () -> limiter.tryAcquire(REQUEST));
					assertThat(pool.getNumIdle()).isPositive();
				}
				assertFails(RedisErrorKind.TIMEOUT, () -> limiter.tryAcquire(REQUEST));
				assertThat(pool.getNumIdle()).isZero();
			}
		}
		finally {
			TestRedis.stop(server);
		}
	}

	@Test
	void remainingTimeIsThatOfTheDecision() {
		Duration otherwise = Duration.ofDays(1);
		List<Duration> remaining = new ArrayList<>();
		DefaultJedisClientConfig config = DefaultJedisClientConfig.builder().build();
		// Jedis 8 connects to the server as soon as there is a client.
		ConnectionPoolConfig neverIdle = new ConnectionPoolConfig();
		neverIdle.setMaxIdle(0);
		TimeBudget budget = new TimeBudget(BUDGET,
				new PooledConnectionProvider(new ConnectionFactory(TimeBudget.sockets(BUDGET, () -> {
					remaining.add(TimeBudget.remaining(otherwise));
					return new HostAndPort(TestRedis.uri().getHost(), TestRedis.uri().getPort());
				}, config), config), neverIdle), config);
		try (UnifiedJedis jedis = budget.client()) {
			budget.limit(RedisRateLimiter.of(jedis, TestRedis.newKeyPrefix())).peek(REQUEST);
		}
		assertThat(remaining).last().satisfies((left) -> assertThat(left).isBetween(Duration.ZERO, BUDGET));
		assertThat(TimeBudget.remaining(otherwise)).isEqualTo(otherwise);
	}

	@Test
	void oneFailureIsEnoughWhenTheServerWasStartedAgain() throws Exception {
		int port = TestRedis.freePort();
		RedisServer server = TestRedis.startServer(port);
		ExecutorService threads = Executors.newFixedThreadPool(16);
		try (Client client = new Client(port, "127.0.0.1", Duration.ofSeconds(30))) {
			RateLimiter limiter = client.limit();
			List<Callable<Boolean>> calls = new ArrayList<>();
			for (int i = 0; i < 2000; i++) {
				calls.add(() -> limiter.tryAcquire(REQUEST).allowed());
			}
			threads.invokeAll(calls);
			assertThat(client.jedis.info("clients").lines())
				.noneMatch((line) -> line.equals("connected_clients:1") || line.equals("connected_clients:2"));
			TestRedis.stop(server);
			server = TestRedis.startServer(port);
			assertFails(RedisErrorKind.CONNECTION, () -> limiter.tryAcquire(REQUEST));
			// All that can be had at once, of which none leads to the server that is
			// gone.
			Pool<Connection> pool = ((RedisClient) client.jedis).getPool();
			List<Connection> connections = new ArrayList<>();
			for (int i = 0; i < 16; i++) {
				connections.add(pool.getResource());
				assertThat(connections.get(i).ping()).isTrue();
			}
			connections.forEach(Connection::close);
			assertThat(limiter.tryAcquire(REQUEST).allowed()).isTrue();
		}
		finally {
			threads.shutdown();
			TestRedis.stop(server);
		}
	}

	@Test
	void loginAndDatabaseAreThoseOfTheConfiguration() {
		int port = TestRedis.freePort();
		RedisServer server = TestRedis.startServer(port, "requirepass secret");
		TimeBudget budget = new TimeBudget(Duration.ofSeconds(30), new HostAndPort("127.0.0.1", port),
				DefaultJedisClientConfig.builder().password("secret").database(3).build());
		try (UnifiedJedis jedis = budget.client()) {
			budget.limit(RedisRateLimiter.of(jedis)).tryAcquire(REQUEST);
			assertThat(jedis.info("keyspace")).contains("db3:keys=1");
		}
		finally {
			TestRedis.stop(server);
		}
	}

	private static void assertFails(RedisErrorKind kind, Runnable call) {
		long start = System.nanoTime();
		assertThatExceptionOfType(StoreException.class).isThrownBy(call::run)
			.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).as(String.valueOf(ex.getCause())).isEqualTo(kind));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CEILING);
	}

	/** Encrypts nothing. */
	private static final class BrokenSslSocketFactory extends SSLSocketFactory {

		@Override
		public String[] getDefaultCipherSuites() {
			return new String[0];
		}

		@Override
		public String[] getSupportedCipherSuites() {
			return new String[0];
		}

		@Override
		public Socket createSocket(Socket socket, String host, int port, boolean autoClose) {
			throw new IllegalStateException("broken");
		}

		@Override
		public Socket createSocket(String host, int port) {
			throw new IllegalStateException("broken");
		}

		@Override
		public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
			throw new IllegalStateException("broken");
		}

		@Override
		public Socket createSocket(InetAddress host, int port) {
			throw new IllegalStateException("broken");
		}

		@Override
		public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) {
			throw new IllegalStateException("broken");
		}

	}

	/** A client and its budget. */
	private static final class Client implements AutoCloseable {

		private final TimeBudget budget;

		private final UnifiedJedis jedis;

		Client(int port) {
			this(port, "127.0.0.1", BUDGET);
		}

		Client(int port, String host, Duration budget) {
			this(port, host, budget, false);
		}

		Client(int port, String host, Duration budget, boolean encrypted) {
			this.budget = new TimeBudget(budget, new HostAndPort(host, port),
					DefaultJedisClientConfig.builder().ssl(encrypted).build());
			this.jedis = this.budget.client();
		}

		RateLimiter limit() {
			return this.budget.limit(RedisRateLimiter.of(this.jedis, TestRedis.newKeyPrefix()));
		}

		@Override
		public void close() {
			this.jedis.close();
		}

	}

}
