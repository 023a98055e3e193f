package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.github.ratelimit.redis.AnsweringServer;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.executors.DefaultCommandExecutor;
import redis.clients.jedis.executors.RetryableCommandExecutor;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.providers.ConnectionProvider;
import redis.clients.jedis.providers.ManagedConnectionProvider;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.util.Pool;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Connections that are borrowed from a client of the application.
 */
@Timeout(120)
@SuppressWarnings("try")
class BorrowedIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final int POOL = 8;

	private final int port = TestRedis.freePort();

	private final Events events = new Events();

	private final ConnectionPoolConfig settings = new ConnectionPoolConfig();

	private RedisServer redis;

	private Pool<Connection> pool;

	private UnifiedJedis client;

	private Server server;

	@BeforeEach
	void start() {
		this.redis = TestRedis.startServer(this.port);
		this.settings.setMaxTotal(POOL);
		this.settings.setMaxIdle(POOL);
		this.settings.setMaxWait(Duration.ofMillis(10));
		JedisClientConfig config = DefaultJedisClientConfig.builder().socketTimeoutMillis(1234).build();
		PooledConnectionProvider connections = new PooledConnectionProvider(new HostAndPort("127.0.0.1", this.port),
				config, this.settings);
		this.pool = connections.getPool();
		this.client = Clients.of(connections, new DefaultCommandExecutor(connections));
		this.server = server(this.client);
	}

	private Server server(UnifiedJedis client) {
		return Connecting.trusting(Connecting.settings("test", BUDGET), BorrowedConnections.of(client), this.events);
	}

	@AfterEach
	void stop() {
		this.server.close();
		this.client.close();
		TestRedis.stop(this.redis);
	}

	@Test
	void connectionsAreReturnedWithTheirTimeout() {
		for (int i = 1; i <= 10; i++) {
			assertThat(Increment.of(this.server, "a", LONG)).isEqualTo(i);
		}
		this.server.close();
		List<Connection> connections = new ArrayList<>();
		for (int i = 0; i < POOL; i++) {
			connections.add(this.pool.getResource());
		}
		assertThat(connections).allSatisfy((each) -> assertThat(each.getSoTimeout()).isEqualTo(1234));
		connections.forEach(Connection::close);
		assertThat(this.client.get("a")).isEqualTo("10");
	}

	/** A pool replaces a broken connection, even while it is being closed. */
	@Test
	void connectionInUseIsReturnedIntactWhenServerIsClosed() {
		Server patient = new Server(Connecting.settings("test", LONG), BorrowedConnections.of(this.client),
				this.events);
		Increment.of(patient, "a", LONG);
		Increment sent = new Increment(Increment.PLAIN, "a", LONG);
		try (StoppedServer stopped = StoppedServer.stop(this.client)) {
			patient.submit(sent);
			TestCluster.await("It is sent", () -> this.pool.getNumActive() == 1);
			patient.close();
		}
		assertThatExceptionOfType(JedisException.class).isThrownBy(sent::await);
		TestCluster.await("It is given back", () -> this.pool.getNumActive() == 0);
		assertThat(this.pool.getDestroyedCount()).isZero();
	}

	@Test
	void exhaustedPoolRefusesCallsWithoutAnOutage() {
		List<Connection> taken = new ArrayList<>();
		for (int i = 0; i < POOL; i++) {
			taken.add(this.pool.getResource());
		}
		Connecting.assertNotSent(() -> Increment.of(this.server, "a", LONG))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.QUEUE_FULL));
		taken.forEach(Connection::close);
		assertThat(Increment.of(this.server, "a", LONG)).isEqualTo(1);
		assertThat(this.events.all()).containsOnly("overloaded");
	}

	@Test
	void callsFailWhileServerHangsAndSucceedAfterwards() {
		Increment.of(this.server, "a", LONG);
		TestCluster.await("It is given back", () -> this.pool.getNumActive() == 0);
		try (StoppedServer stopped = StoppedServer.stop(this.client)) {
			Connecting.assertFails(Reason.SILENCE, () -> Increment.of(this.server, "a", LONG));
			Connecting.assertNotSent(() -> Increment.of(this.server, "a", LONG))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.OUTAGE));
		}
		this.events.await("closed", 1);
		assertThat(Increment.of(this.server, "b", LONG)).isEqualTo(1);
		assertThat(this.events.all()).containsExactly("opened", "closed");
	}

	@Test
	void closedClientIsNotProbedForEver() {
		Server named = new Server(Connecting.settings("closed client", BUDGET), BorrowedConnections.of(this.client),
				this.events);
		TestRedis.stop(this.redis);
		assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(named, "a", LONG));
		TestCluster.await("It is probed", () -> isProbed("closed client"));
		this.client.close();
		TestCluster.await("It is no longer probed", () -> !isProbed("closed client"));
		assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(named, "a", LONG));
		named.close();
	}

	private static boolean isProbed(String server) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.anyMatch((thread) -> thread.getName().equals("ratelimit-probe-" + server));
	}

	@Test
	void connectionsClosedByTheServerAreSkipped() {
		List<Connection> connections = new ArrayList<>();
		for (int i = 0; i < POOL; i++) {
			connections.add(this.pool.getResource());
		}
		connections.forEach(Connection::close);
		TestRedis.stop(this.redis);
		this.redis = TestRedis.startServer(this.port);
		for (int i = 1; i <= 10; i++) {
			assertThat(Increment.of(this.server, "a", LONG)).isEqualTo(i);
		}
		assertThat(this.events.all()).isEmpty();
	}

	/** As those of sentinels were before Jedis 7.4. */
	@Test
	void nothingStaysBorrowedWhenProviderDoesNotShowItsPool() {
		ConnectionProvider hiding = new ConnectionProvider() {

			@Override
			public Connection getConnection() {
				return BorrowedIT.this.pool.getResource();
			}

			@Override
			public Connection getConnection(CommandArguments arguments) {
				return getConnection();
			}

			@Override
			public void close() {
			}

		};
		try (UnifiedJedis hidden = Clients.of(hiding, new DefaultCommandExecutor(hiding))) {
			ConnectionSource source = BorrowedConnections.of(hidden);
			for (int i = 0; i <= POOL; i++) {
				source.leave();
			}
			assertThat(this.pool.getNumActive()).isZero();
			List<Connection> all = Stream.generate(this.pool::getResource).limit(POOL).toList();
			source.leave();
			all.forEach(Connection::close);
		}
	}

	@Test
	void timeoutIsNeverForEverExceptTheOwn() {
		Connection connection = this.pool.getResource();
		connection.setSoTimeout(0);
		Link link = new Link(connection, null, (patience) -> true, () -> {
		});
		link.timeout(Duration.ofNanos(750_000));
		assertThat(connection.getSoTimeout()).isOne();
		link.release();
		assertThat(connection.getSoTimeout()).isZero();
	}

	@Test
	void clientsThatRetryAreRejected() {
		try (PooledConnectionProvider connections = new PooledConnectionProvider(
				new HostAndPort("127.0.0.1", this.port));
				UnifiedJedis retrying = Clients.of(connections,
						new RetryableCommandExecutor(connections, 3, Duration.ofSeconds(1)))) {
			assertThatIllegalArgumentException().isThrownBy(() -> BorrowedConnections.of(retrying))
				.withMessage(
						"Invalid client (%s): must not send commands again by itself, as its command executor does.",
						retrying.getClass().getName());
		}
	}

	@Test
	void clientsWithoutPoolAreRejected() {
		ManagedConnectionProvider one = new ManagedConnectionProvider();
		try (UnifiedJedis client = Clients.of(one, new DefaultCommandExecutor(one))) {
			assertThatIllegalArgumentException().isThrownBy(() -> BorrowedConnections.of(client))
				.withMessage("Invalid client (%s): must have a pool of connections.", client.getClass().getName());
		}
	}

	@Test
	@EnabledIf(value = "arePlainClients", disabledReason = "Jedis has had no such constructor since 8.0")
	void plainClientsOfAClusterAreRejected() {
		try (AnsweringServer node = new AnsweringServer("");
				ClusterConnectionProvider nodes = new ClusterConnectionProvider(
						Set.of(new HostAndPort("127.0.0.1", node.uri().getPort())),
						DefaultJedisClientConfig.builder().build());
				UnifiedJedis client = Clients.plain(nodes)) {
			assertThatIllegalArgumentException().isThrownBy(() -> BorrowedConnections.of(client))
				.withMessage("Invalid client (redis.clients.jedis.UnifiedJedis): must be a RedisClusterClient or"
						+ " JedisCluster to use a cluster.");
			assertThat(BorrowedConnections.clusterOf(client)).isNull();
		}
	}

	static boolean arePlainClients() {
		return Stream.of(UnifiedJedis.class.getConstructors())
			.map((constructor) -> List.of(constructor.getParameterTypes()))
			.anyMatch(List.of(ConnectionProvider.class)::equals);
	}

}
