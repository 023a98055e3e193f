package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.github.ratelimit.redis.AnsweringServer;
import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.executors.DefaultCommandExecutor;
import redis.clients.jedis.executors.RetryableCommandExecutor;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.providers.ConnectionProvider;
import redis.clients.jedis.providers.ManagedConnectionProvider;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.util.Pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Connections that are borrowed from a client of the application.
 */
@Timeout(120)
@SuppressWarnings("try")
class BorrowedIT {

	private static final ServerSettings SETTINGS = Connecting.settings("test", Duration.ofMillis(300));

	private static final int POOL = 8;

	private final OwnRedis redis = new OwnRedis();

	private final PooledConnectionProvider connections = connections();

	private final Pool<Connection> pool = this.connections.getPool();

	private final UnifiedJedis client = Clients.of(this.connections, new DefaultCommandExecutor(this.connections));

	private final Events events = new Events();

	private final Server server = Connecting.trusting(SETTINGS, BorrowedConnections.of(this.client), this.events);

	private PooledConnectionProvider connections() {
		ConnectionPoolConfig settings = new ConnectionPoolConfig();
		settings.setMaxTotal(POOL);
		settings.setMaxIdle(POOL);
		settings.setMaxWait(Duration.ofMillis(10));
		return new PooledConnectionProvider(new HostAndPort("127.0.0.1", this.redis.port()),
				DefaultJedisClientConfig.builder().socketTimeoutMillis(1234).build(), settings);
	}

	private List<Connection> takeAll() {
		return Stream.generate(this.pool::getResource).limit(POOL).toList();
	}

	@AfterEach
	void stop() {
		this.server.close();
		this.client.close();
		this.redis.close();
	}

	@Test
	void connectionsAreReturnedWithTheirTimeout() {
		for (int i = 1; i <= 10; i++) {
			assertThat(Increment.of(this.server, "a")).isEqualTo(i);
		}
		this.server.close();
		List<Connection> connections = takeAll();
		assertThat(connections).allSatisfy((each) -> assertThat(each.getSoTimeout()).isEqualTo(1234));
		connections.forEach(Connection::close);
		assertThat(this.client.get("a")).isEqualTo("10");
	}

	/** A pool replaces a broken connection, even while it is being closed. */
	@Test
	void connectionInUseIsReturnedIntactWhenServerIsClosed() {
		Server patient = new Server(Connecting.settings("test", Increment.LONG), BorrowedConnections.of(this.client),
				this.events);
		Increment.of(patient, "a");
		Increment sent;
		try (StoppedServer stopped = StoppedServer.stop(this.redis.jedis())) {
			sent = Increment.submit(patient, Increment.LONG, "a");
			TestCluster.await("It is sent", () -> this.pool.getNumActive() == 1);
			patient.close();
		}
		assertThatExceptionOfType(JedisException.class).isThrownBy(sent::await);
		TestCluster.await("It is given back", () -> this.pool.getNumActive() == 0);
		assertThat(this.pool.getDestroyedCount()).isZero();
	}

	@Test
	void exhaustedPoolRefusesCallsWithoutAnOutage() {
		List<Connection> taken = takeAll();
		Connecting.assertFails(Reason.QUEUE_FULL, () -> Increment.of(this.server, "a"));
		taken.forEach(Connection::close);
		assertThat(Increment.of(this.server, "a")).isEqualTo(1);
		assertThat(this.events.all()).containsOnly("overloaded");
	}

	@Test
	void callsFailWhileServerHangsAndSucceedAfterwards() {
		Increment.of(this.server, "a");
		TestCluster.await("It is given back", () -> this.pool.getNumActive() == 0);
		try (StoppedServer stopped = StoppedServer.stop(this.redis.jedis())) {
			Connecting.assertFails(Reason.SILENCE, () -> Increment.of(this.server, "a"));
			Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(this.server, "a"));
		}
		this.events.await("closed", 1);
		assertThat(Increment.of(this.server, "b")).isEqualTo(1);
		assertThat(this.events.all()).containsExactly("opened", "closed");
	}

	/** Nobody has measured anything yet. */
	@Test
	void lateCallIsToldNothingUnknownOfTheLastAnswer() {
		try (Server patient = Connecting.trusting(Connecting.settings("borrowed", Increment.LONG),
				BorrowedConnections.of(this.client), Connecting.NOBODY)) {
			Increment.of(patient, "a");
			try (StoppedServer stopped = StoppedServer.stop(this.redis.jedis())) {
				assertThatExceptionOfType(JedisException.class)
					.isThrownBy(Increment.submit(patient, Duration.ofMillis(200), "a")::await)
					.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("the last answer"));
			}
		}
	}

	@Test
	void closedClientIsNotProbedForEver() {
		Server named = new Server(Connecting.settings("closed client", SETTINGS.budget()),
				BorrowedConnections.of(this.client), this.events);
		this.redis.stop();
		assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(named, "a"));
		TestCluster.await("It is probed", () -> isProbed("closed client"));
		this.client.close();
		TestCluster.await("It is no longer probed", () -> !isProbed("closed client"));
		assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(named, "a"));
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
		takeAll().forEach(Connection::close);
		this.redis.stop();
		this.redis.start();
		for (int i = 1; i <= 10; i++) {
			assertThat(Increment.of(this.server, "a")).isEqualTo(i);
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
			List<Connection> all = takeAll();
			source.leave();
			all.forEach(Connection::close);
		}
	}

	@Test
	void timeoutIsNeverForEverExceptTheOwn() {
		Connection connection = this.pool.getResource();
		connection.setSoTimeout(0);
		Link link = new Link(connection, null, (patience) -> true, Connecting.NOTHING);
		link.timeout(Duration.ofNanos(750_000));
		assertThat(connection.getSoTimeout()).isOne();
		link.release();
		assertThat(connection.getSoTimeout()).isZero();
	}

	@Test
	void clientsThatRetryOrHaveNoPoolAreRejected() {
		ManagedConnectionProvider one = new ManagedConnectionProvider();
		try (UnifiedJedis retrying = Clients.of(this.connections,
				new RetryableCommandExecutor(this.connections, 3, Duration.ofSeconds(1)));
				UnifiedJedis single = Clients.of(one, new DefaultCommandExecutor(one))) {
			assertRejected(retrying, "must not send commands again by itself, as its command executor does");
			assertRejected(single, "must have a pool of connections");
		}
	}

	private static void assertRejected(UnifiedJedis client, String rule) {
		assertThatIllegalArgumentException().isThrownBy(() -> BorrowedConnections.of(client))
			.withMessage("Invalid client (%s): %s.", client.getClass().getName(), rule);
	}

	@Test
	@EnabledIf(value = "arePlainClients", disabledReason = "Jedis has had no such constructor since 8.0")
	void plainClientsOfAClusterAreRejected() {
		try (AnsweringServer node = new AnsweringServer("");
				ClusterConnectionProvider nodes = new ClusterConnectionProvider(
						Set.of(new HostAndPort("127.0.0.1", node.uri().getPort())),
						DefaultJedisClientConfig.builder().build());
				UnifiedJedis client = Clients.plain(nodes)) {
			assertRejected(client, "must be a RedisClusterClient or JedisCluster to use a cluster");
			assertThat(BorrowedConnections.clusterOf(client)).isNull();
		}
	}

	static boolean arePlainClients() {
		return Stream.of(UnifiedJedis.class.getConstructors())
			.map((constructor) -> List.of(constructor.getParameterTypes()))
			.anyMatch(List.of(ConnectionProvider.class)::equals);
	}

}
