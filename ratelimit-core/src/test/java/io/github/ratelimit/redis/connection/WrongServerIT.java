package io.github.ratelimit.redis.connection;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import io.github.ratelimit.redis.AnsweringServer;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.HostAndPort;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A server that is no longer the right one and keeps its connections, while new ones are
 * led to another, as by a name or a proxy.
 */
@Timeout(120)
class WrongServerIT {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final int formerPort = TestRedis.freePort();

	private final int presentPort = TestRedis.freePort();

	private final Events events = new Events();

	private RedisServer former;

	private RedisServer present;

	private FaultyProxy name;

	@BeforeEach
	void start() {
		this.former = TestRedis.startServer(this.formerPort);
		this.present = TestRedis.startServer(this.presentPort);
		this.name = new FaultyProxy(uri(this.formerPort));
	}

	@AfterEach
	void stop() {
		this.name.close();
		TestRedis.stop(this.former);
		TestRedis.stop(this.present);
	}

	private static URI uri(int port) {
		return URI.create("redis://127.0.0.1:" + port);
	}

	private Server own() {
		return Connecting.to(this.name.uri().getPort(), LONG, this.events);
	}

	/** Makes the former server refuse to write; the name leads to the other. */
	private void demote() {
		try (Jedis admin = new Jedis("127.0.0.1", this.formerPort)) {
			admin.replicaof("127.0.0.1", this.presentPort);
		}
		this.name.leadTo(uri(this.presentPort));
	}

	/** The call that was refused is not sent again. */
	@ParameterizedTest
	@ValueSource(strings = { "plain", "script" })
	void newConnectionIsMadeWhenServerBecomesReadOnly(String kind) {
		try (Server server = own(); Jedis other = new Jedis("127.0.0.1", this.presentPort)) {
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			demote();
			Increment refused = new Increment(
					kind.equals("script") ? new Increment.ByScript(Increment.SCRIPT) : Increment.PLAIN, "b", LONG);
			server.submit(refused);
			assertThatExceptionOfType(JedisException.class).isThrownBy(refused::await)
				.satisfies((ex) -> assertThat(ErrorText.isOfWrongServer(ex)).isTrue());
			awaitDeparture(server);
			assertThat(Increment.of(server, "b", LONG)).isEqualTo(1);
			assertThat(other.get("b")).isEqualTo("1");
			assertThat(this.events.all()).isEmpty();
		}
	}

	/** The caller is told before the thread that reads goes on. */
	private static void awaitDeparture(Server server) {
		TestCluster.await("The connections are given up", () -> server.departures() == 1);
	}

	/** Each lane has a connection of its own, but one error is enough for all. */
	@Test
	void otherLanesLeaveTheServerWithTheFirstError() {
		try (Server server = own()) {
			awaitAllLanes(server, () -> this.name.connections() == 2);
			demote();
			assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> Increment.of(server, "b", LONG));
			awaitDeparture(server);
			for (int i = 1; i <= 100; i++) {
				assertThat(Increment.of(server, "b", LONG)).isEqualTo(i);
			}
		}
	}

	private static void awaitAllLanes(Server server, BooleanSupplier connected) {
		TestCluster.await("All lanes are connected", () -> {
			Call first = question(Protocol.Command.PING);
			Call second = question(Protocol.Command.PING);
			server.submit(first);
			server.submit(second);
			first.await();
			second.await();
			return connected.getAsBoolean();
		});
	}

	private static Call question(Protocol.Command command, Object... arguments) {
		return CommandCall.question(new CommandArguments(command).addObjects(arguments), 1,
				System.nanoTime() + LONG.toNanos());
	}

	/** Otherwise a caller learns only that its connection broke. */
	@Test
	void refusedLoginIsToldThoughAnotherLaneIsConnected() {
		ConnectionSource source = OwnConnections.to(new HostAndPort("127.0.0.1", this.name.uri().getPort()),
				DefaultJedisClientConfig.builder().password("old").build());
		try (Jedis admin = new Jedis("127.0.0.1", this.formerPort);
				Server server = Connecting.trusting(Connecting.settings("test", LONG), source, this.events)) {
			admin.configSet("requirepass", "old");
			admin.auth("old");
			awaitAllLanes(server, () -> this.name.connections() == 2);
			Call waiting = question(Protocol.Command.BLPOP, "list", 0);
			server.submit(waiting);
			TestCluster.await("A lane waits", () -> admin.clientList().contains("cmd=blpop"));
			admin.configSet("requirepass", "new");
			admin.clientList()
				.lines()
				.filter((client) -> !client.contains("cmd=blpop") && !client.contains("cmd=client|list"))
				.forEach((client) -> admin
					.clientKill(new ClientKillParams().id(client.substring("id=".length(), client.indexOf(' ')))));
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> Increment.of(server, "a", LONG))
				.withStackTraceContaining("WRONGPASS");
			admin.rpush("list", "end");
			waiting.await();
		}
	}

	/** It is idle, so that its thread has not seen that it is broken. */
	@Test
	void refusedConnectionIsAnOutageThoughAnotherLaneSeemsConnected() {
		try (Jedis admin = new Jedis("127.0.0.1", this.formerPort);
				Server server = Connecting.to(this.formerPort, LONG, this.events)) {
			awaitAllLanes(server, () -> admin.clientList().lines().count() == 3);
			TestRedis.stop(this.former);
			assertThatExceptionOfType(CallException.class).isThrownBy(() -> Increment.of(server, "a", LONG))
				.returns(false, CallException::isBrief);
			assertThat(this.events.all()).containsExactly("opened");
		}
	}

	@Test
	void wrongReplyIsToldThoughConnectingAgainFails() {
		try (AnsweringServer redis = new AnsweringServer("INCR", "$2147483647\r\n",
				() -> this.name.leadTo(uri(TestRedis.freePort()))); Server server = own()) {
			this.name.leadTo(redis.uri());
			awaitAllLanes(server, () -> this.name.connections() == 2);
			assertThatExceptionOfType(WrongReplyException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
		}
	}

	/** A thread may look at its connection before, and take its calls after that. */
	@Test
	void callsTakenAfterADepartureGoToTheNewServer() {
		AtomicReference<Runnable> lookup = new AtomicReference<>(() -> {
		});
		HostAndPort address = new HostAndPort("127.0.0.1", this.name.uri().getPort());
		OwnConnections source = new OwnConnections((patience) -> {
			lookup.getAndSet(() -> {
			}).run();
			return address;
		}, () -> {
		}, DefaultJedisClientConfig.builder().build());
		ServerSettings settings = new ServerSettings("taken", LONG, 1, 100);
		try (Server server = Connecting.trusting(settings, source, this.events)) {
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			demote();
			lookup.set(server::leave);
			assertThat(Increment.of(server, "b", LONG)).isEqualTo(1);
			assertThat(server.departures()).isEqualTo(1);
		}
	}

	/** Nobody gains from connecting for each call. */
	@Test
	void wrongServerIsConnectedAtMostOnceASecond() {
		try (Server server = own(); Jedis admin = new Jedis("127.0.0.1", this.formerPort)) {
			Increment.of(server, "a", LONG);
			admin.replicaof("127.0.0.1", this.presentPort);
			long start = System.nanoTime();
			int before = this.name.connections();
			for (int i = 0; i < 100; i++) {
				assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> Increment.of(server, "b", LONG));
			}
			long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
			int departures = (int) (seconds + 1);
			// Both lanes, of which one may not have been connected before.
			assertThat(this.name.connections() - before).isBetween(1, 2 * departures + 1);
		}
	}

	/** It is the right one, and another only if that takes long. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void loadingServerIsLeftOnlyWhenThatLasts(boolean lasts) {
		ServerSettings settings = new ServerSettings("loading", LONG, 1, 100, lasts ? Duration.ZERO : LONG);
		try (AnsweringServer loading = new AnsweringServer("INCR", "-LOADING Redis is loading\r\n", () -> {
		}); Server server = Connecting.to(loading.uri().getPort(), settings, this.events)) {
			for (int i = 0; i < 10; i++) {
				assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
			}
			// Also the thread that reads, which goes on when the caller is told.
			server.disconnect();
			assertThat(server.departures() > 0).isEqualTo(lasts);
		}
	}

	/** The pool has many connections to the former server. */
	@Test
	void borrowedConnectionsAreReplacedWhenServerBecomesReadOnly() {
		try (PooledConnectionProvider connections = new PooledConnectionProvider(
				new HostAndPort("127.0.0.1", this.name.uri().getPort()));
				UnifiedJedis client = JedisClients.create(connections);
				Server server = new Server(Connecting.settings("borrowed", LONG), BorrowedConnections.of(client),
						this.events)) {
			Connection[] idle = new Connection[8];
			for (int i = 0; i < idle.length; i++) {
				idle[i] = connections.getConnection();
			}
			for (Connection connection : idle) {
				connection.close();
			}
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			demote();
			assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> Increment.of(server, "b", LONG));
			awaitDeparture(server);
			for (int i = 1; i <= 10; i++) {
				assertThat(Increment.of(server, "b", LONG)).isEqualTo(i);
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

}
