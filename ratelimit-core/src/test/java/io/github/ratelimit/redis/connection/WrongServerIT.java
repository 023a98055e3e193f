package io.github.ratelimit.redis.connection;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import io.github.ratelimit.redis.AnsweringServer;
import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.HostAndPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A server that is no longer the right one and keeps its connections, while new ones are
 * led to another, as by a name or a proxy.
 */
@Timeout(120)
class WrongServerIT {

	private final OwnRedis former = new OwnRedis();

	private final OwnRedis present = new OwnRedis();

	private final FaultyProxy name = new FaultyProxy(this.former.uri());

	private final HostAndPort address = new HostAndPort("127.0.0.1", this.name.uri().getPort());

	private final Events events = new Events();

	@AfterEach
	void stop() {
		this.name.close();
		this.former.close();
		this.present.close();
	}

	private Server own() {
		return Connecting.to(this.address.getPort(), Increment.LONG, this.events);
	}

	/** Makes the former server refuse to write; the name leads to the other. */
	private void demote() {
		this.former.jedis()
			.executeCommand(new CommandArguments(Command.REPLICAOF).addObjects("127.0.0.1", this.present.port()));
		this.name.leadTo(this.present.uri());
	}

	/** The caller is told before the thread that reads goes on. */
	private static void awaitDeparture(Server server) {
		TestCluster.await("The connections are given up", () -> server.departures() == 1);
	}

	/**
	 * Each lane has a connection of its own, but one error is enough for all. The call
	 * that was refused is not sent again.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void newConnectionsAreMadeWhenServerBecomesReadOnly(boolean script) {
		try (Server server = own()) {
			awaitAllLanes(server, () -> this.name.connections() == 2);
			demote();
			Increment refused = Increment.submit(server, script ? new Increment.ByScript("") : Increment.PLAIN, "b");
			assertThatExceptionOfType(JedisDataException.class).isThrownBy(refused::await)
				.satisfies((ex) -> assertThat(ErrorText.isOfWrongServer(ex)).isTrue());
			awaitDeparture(server);
			for (int i = 1; i <= 100; i++) {
				assertThat(Increment.of(server, "b")).isEqualTo(i);
			}
			assertThat(this.present.jedis().get("b")).isEqualTo("100");
			assertThat(this.events.all()).isEmpty();
		}
	}

	private static void awaitAllLanes(Server server, BooleanSupplier connected) {
		TestCluster.await("All lanes are connected", () -> {
			List<Call> pings = Stream.generate(() -> ask(server, Command.PING)).limit(2).toList();
			pings.forEach(Call::await);
			return connected.getAsBoolean();
		});
	}

	/** Counts those that have logged in: each sends a PING then. */
	private static long connections(Jedis admin) {
		return admin.clientList().lines().filter((client) -> client.contains("cmd=ping")).count();
	}

	private static Call ask(Server server, Command command, Object... arguments) {
		Call question = CommandCall.question(new CommandArguments(command).addObjects(arguments), 1,
				System.nanoTime() + Increment.LONG.toNanos());
		server.submit(question);
		return question;
	}

	/** Closes the connections that do not wait. */
	private static void killOthers(Jedis admin) {
		admin.clientList()
			.lines()
			.filter((client) -> !client.contains("cmd=blpop") && !client.contains("cmd=client"))
			.forEach((client) -> admin
				.clientKill(new ClientKillParams().id(client.substring("id=".length(), client.indexOf(' ')))));
	}

	/** Asking the other lane must not undo the disconnection. */
	@Test
	void nothingRemainsIfAConnectionIsRefusedWhileOthersDisconnect() throws InterruptedException {
		AtomicBoolean refused = new AtomicBoolean();
		CountDownLatch connecting = new CountDownLatch(1);
		CompletableFuture<HostAndPort> refusal = new CompletableFuture<>();
		ConnectionSource source = new OwnConnections((patience) -> {
			if (refused.getAndSet(false)) {
				connecting.countDown();
				return refusal.join();
			}
			return this.address;
		}, DefaultJedisClientConfig.builder().build());
		try (Jedis admin = new Jedis("127.0.0.1", this.former.port());
				Server server = Connecting.trusting(Connecting.settings("test", Increment.LONG), source, this.events)) {
			awaitAllLanes(server, () -> connections(admin) == 2);
			Call waiting = ask(server, Command.BLPOP, "list", 0);
			TestCluster.await("A lane waits", () -> admin.clientList().contains("cmd=blpop"));
			refused.set(true);
			killOthers(admin);
			ask(server, Command.PING);
			connecting.await();
			Thread stop = new Thread(server::disconnect);
			stop.start();
			TestCluster.await("The server disconnects", () -> stop.getState() == Thread.State.TIMED_WAITING);
			refusal.completeExceptionally(new JedisConnectionException("refused"));
			admin.rpush("list", "end");
			waiting.await();
			stop.join();
			assertThat(server.isDisconnected()).isTrue();
		}
	}

	/** Otherwise a caller learns only that its connection broke. */
	@Test
	void refusedLoginIsToldThoughAnotherLaneIsConnected() {
		ConnectionSource source = OwnConnections.to(this.address,
				DefaultJedisClientConfig.builder().password("old").build());
		try (Jedis admin = new Jedis("127.0.0.1", this.former.port());
				Server server = Connecting.trusting(Connecting.settings("test", Increment.LONG), source, this.events)) {
			admin.configSet("requirepass", "old");
			admin.auth("old");
			awaitAllLanes(server, () -> connections(admin) == 2);
			Call waiting = ask(server, Command.BLPOP, "list", 0);
			TestCluster.await("A lane waits", () -> admin.clientList().contains("cmd=blpop"));
			admin.configSet("requirepass", "new");
			killOthers(admin);
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> Increment.of(server, "a"))
				.withStackTraceContaining("WRONGPASS")
				.satisfies((ex) -> assertThat(ex.getSuppressed()).as("what broke before").hasSize(1));
			admin.rpush("list", "end");
			waiting.await();
		}
	}

	/** It is idle, so that its thread has not seen that it is broken. */
	@Test
	void refusedConnectionIsAnOutageThoughAnotherLaneSeemsConnected() {
		try (Jedis admin = new Jedis("127.0.0.1", this.former.port());
				Server server = Connecting.to(this.former.port(), Increment.LONG, this.events)) {
			awaitAllLanes(server, () -> connections(admin) == 2);
			this.former.stop();
			assertThatExceptionOfType(CallException.class).isThrownBy(() -> Increment.of(server, "a"))
				.returns(false, CallException::isBrief);
			assertThat(this.events.all()).containsExactly("opened");
		}
	}

	@Test
	void wrongReplyIsToldThoughConnectingAgainFails() {
		try (AnsweringServer redis = new AnsweringServer("INCR", "$2147483647\r\n",
				() -> this.name.leadTo(URI.create("redis://127.0.0.1:" + TestRedis.freePort())));
				Server server = own()) {
			this.name.leadTo(redis.uri());
			awaitAllLanes(server, () -> this.name.connections() == 2);
			assertThatExceptionOfType(WrongReplyException.class).isThrownBy(() -> Increment.of(server, "a"));
		}
	}

	/** A thread may look at its connection before, and take its calls after that. */
	@Test
	void callsTakenAfterADepartureGoToTheNewServer() {
		AtomicReference<Runnable> lookup = new AtomicReference<>(Connecting.NOTHING);
		OwnConnections source = new OwnConnections((patience) -> {
			lookup.getAndSet(Connecting.NOTHING).run();
			return this.address;
		}, DefaultJedisClientConfig.builder().build());
		ServerSettings settings = new ServerSettings("taken", Increment.LONG, 1, 100);
		try (Server server = Connecting.trusting(settings, source, this.events)) {
			assertThat(Increment.of(server, "a")).isEqualTo(1);
			demote();
			lookup.set(server::leave);
			assertThat(Increment.of(server, "b")).isEqualTo(1);
			assertThat(server.departures()).isEqualTo(1);
		}
	}

	/** Nobody gains from connecting for each call. */
	@Test
	void wrongServerIsConnectedAtMostOnceASecond() {
		try (Server server = own()) {
			Increment.of(server, "a");
			demote();
			this.name.leadTo(this.former.uri());
			long start = System.nanoTime();
			int before = this.name.connections();
			for (int i = 0; i < 100; i++) {
				assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> Increment.of(server, "b"));
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
		ServerSettings settings = new ServerSettings("loading", Increment.LONG, 1, 100,
				lasts ? Duration.ZERO : Increment.LONG);
		try (AnsweringServer loading = new AnsweringServer("INCR", "-LOADING Redis is loading\r\n", Connecting.NOTHING);
				Server server = Connecting.to(loading.uri().getPort(), settings, this.events)) {
			for (int i = 0; i < 10; i++) {
				assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> Increment.of(server, "a"));
			}
			// Also the thread that reads, which goes on when the caller is told.
			server.disconnect();
			assertThat(server.departures() > 0).isEqualTo(lasts);
		}
	}

	/** The pool has many connections to the former server. */
	@Test
	void borrowedConnectionsAreReplacedWhenServerBecomesReadOnly() {
		try (PooledConnectionProvider connections = new PooledConnectionProvider(this.address);
				UnifiedJedis client = JedisClients.create(connections);
				Server server = new Server(Connecting.settings("borrowed", Increment.LONG),
						BorrowedConnections.of(client), this.events)) {
			List<Connection> idle = Stream.generate(connections::getConnection).limit(8).toList();
			idle.forEach(Connection::close);
			assertThat(Increment.of(server, "a")).isEqualTo(1);
			demote();
			assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> Increment.of(server, "b"));
			awaitDeparture(server);
			for (int i = 1; i <= 10; i++) {
				assertThat(Increment.of(server, "b")).isEqualTo(i);
			}
			assertThat(this.events.all()).isEmpty();
		}
	}

}
