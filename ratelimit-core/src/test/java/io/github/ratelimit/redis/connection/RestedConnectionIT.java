package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.providers.PooledConnectionProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A connection that was not used for a time, in which the server or what is in between
 * has closed it, or that was given up on purpose. Nobody's call is lost with it.
 */
@Timeout(120)
class RestedConnectionIT {

	/** A quarter of it is waited for each connection that was forgotten. */
	private static final Duration BUDGET = Duration.ofSeconds(4);

	private final OwnRedis redis = new OwnRedis();

	private final FaultyProxy firewall = new FaultyProxy(this.redis.uri());

	private final Events events = new Events();

	@AfterEach
	void stop() {
		this.firewall.close();
		this.redis.close();
	}

	/**
	 * Returns a server whose connection is never trusted. There is one, because a second
	 * might be verified before it is forgotten, and used after that.
	 */
	private Server rested(Duration budget, ConnectionSource source) {
		return new Server(new ServerSettings("rested", budget, 1, 8192), source, this.events, 0);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callSucceedsWhenIdleConnectionWasClosed(boolean borrowed) {
		try (Jedis admin = new Jedis("127.0.0.1", this.redis.port());
				Server server = rested(Increment.LONG,
						borrowed ? BorrowedConnections.of(this.redis.jedis()) : Connecting.source(this.redis.port()))) {
			assertThat(Increment.of(server, "a")).isEqualTo(1);
			admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
			assertThat(Increment.of(server, "a")).isEqualTo(2);
			assertThat(this.events.all()).isEmpty();
		}
	}

	/** As a firewall or a load balancer does, which says nothing to either side. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void callSucceedsWhenIdleConnectionWasForgotten(boolean borrowed) {
		try (UnifiedJedis client = JedisClients.create(this.firewall.uri());
				Server server = rested(BUDGET,
						borrowed ? BorrowedConnections.of(client) : Connecting.source(this.firewall.uri().getPort()))) {
			for (int i = 1; i <= 3; i++) {
				assertThat(Increment.of(server, "a")).isEqualTo(i);
				this.firewall.forgetConnections();
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

	/** Each of them would be waited for. */
	@Test
	void callSucceedsWhenManyConnectionsOfPoolWereForgotten() {
		ConnectionPoolConfig settings = new ConnectionPoolConfig();
		settings.setMaxTotal(50);
		settings.setMaxIdle(50);
		try (PooledConnectionProvider connections = new PooledConnectionProvider(
				new HostAndPort("127.0.0.1", this.firewall.uri().getPort()), DefaultJedisClientConfig.builder().build(),
				settings);
				UnifiedJedis client = JedisClients.create(connections);
				Server server = rested(BUDGET, BorrowedConnections.of(client))) {
			assertThat(Increment.of(server, "a")).isEqualTo(1);
			List<Connection> many = Stream.generate(connections::getConnection).limit(50).toList();
			many.forEach(Connection::close);
			this.firewall.forgetConnections();
			int before = this.firewall.connections();
			assertThat(Increment.of(server, "a")).isEqualTo(2);
			assertThat(this.firewall.connections()).isBetween(before + 1, before + 3);
		}
	}

	@Test
	void waitForRestedConnectionLeavesTimeForAnother() {
		long millis = 1_000_000;
		assertThat(ConnectionSource.patience(Duration.ofMillis(100), millis)).isEqualTo(25 * millis);
		assertThat(ConnectionSource.patience(Duration.ofMillis(100), 20 * millis)).isEqualTo(40 * millis);
		assertThat(ConnectionSource.patience(Duration.ofMillis(100), 40 * millis)).isEqualTo(50 * millis);
		// Otherwise no call would be in time.
		assertThat(ConnectionSource.patience(Duration.ofMillis(100), 60 * millis)).isZero();
	}

	/** The master is looked up before. */
	@Test
	void lookUpLeavesTimeForAnswerOfRestedConnection() {
		long millis = 1_000_000;
		assertThat(ConnectionSource.patienceBefore(24 * millis, millis)).isEqualTo(12 * millis);
		assertThat(ConnectionSource.patienceBefore(24 * millis, 10 * millis)).isEqualTo(4 * millis);
		assertThat(ConnectionSource.patienceBefore(50 * millis, 40 * millis)).isZero();
		assertThat(ConnectionSource.patienceBefore(0, 60 * millis)).isZero();
	}

	private Server named(ConnectionSource source) {
		return new Server(Connecting.settings(name(), Increment.LONG), source, this.events);
	}

	private String name() {
		return "gone-" + this.redis.port();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void nothingRemainsOfDisconnectedServerUntilTheNextCall(boolean borrowed) {
		try (Jedis admin = new Jedis("127.0.0.1", this.redis.port());
				Server server = named(
						borrowed ? BorrowedConnections.of(this.redis.jedis()) : Connecting.source(this.redis.port()))) {
			long before = admin.clientList().lines().count();
			for (int i = 1; i <= 3; i++) {
				assertThat(Increment.of(server, "a")).isEqualTo(i);
				server.disconnect();
				awaitNoThread();
				if (!borrowed) {
					TestCluster.await("The server has seen the end",
							() -> admin.clientList().lines().count() == before);
				}
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

	@Test
	void disconnectedServerIsProbedAgainAfterTheNextCall() {
		this.redis.stop();
		try (Server server = named(Connecting.source(this.redis.port()))) {
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a"));
			server.disconnect();
			awaitNoThread();
			this.redis.start();
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a"));
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "a")).isEqualTo(1);
		}
	}

	/** A thread has said that it ends, and may have a few instructions left. */
	private void awaitNoThread() {
		TestCluster.await("No thread remains",
				() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().contains(name())));
	}

}
