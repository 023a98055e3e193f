package io.github.ratelimit.redis.connection;

import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.List;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Servers that are there and say nothing.
 */
@Timeout(120)
@SuppressWarnings("try")
class SilenceIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private static final Duration LONG = Duration.ofSeconds(60);

	/** Much longer than a silence. */
	private static final Duration DELAY = Duration.ofSeconds(5);

	private final int port = TestRedis.freePort();

	private final Events events = new Events();

	private RedisServer redis;

	private UnifiedJedis jedis;

	private Server server;

	@BeforeEach
	void start() {
		this.redis = TestRedis.startServer(this.port);
		this.jedis = JedisClients.create("127.0.0.1", this.port);
		this.server = Connecting.to(this.port, BUDGET, this.events);
	}

	@AfterEach
	void stop() {
		this.server.close();
		this.jedis.close();
		TestRedis.stop(this.redis);
	}

	@Test
	void callsFailBeforeTheirDeadlineWhenTheServerHangs() {
		Increment.of(this.server, "a", LONG);
		try (StoppedServer stopped = StoppedServer.stop(this.jedis)) {
			Increment sent = new Increment(Increment.PLAIN, "a", LONG);
			this.server.submit(sent);
			Connecting.assertFails(Reason.SILENCE, sent::await)
				.satisfies((ex) -> assertThat(ex.getCause()).hasMessageContaining("Nothing was received for PT0.3S"));
			assertThat(this.server.isUnavailable()).isTrue();
			Connecting.assertNotSent(() -> Increment.of(this.server, "a", LONG))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.OUTAGE));
		}
		this.events.await("closed", 1);
		assertThat(Increment.of(this.server, "a", LONG)).isEqualTo(3);
		assertThat(this.events.all()).containsExactly("opened", "closed");
	}

	@Test
	void lateAnswerEndsTheOutageAndReachesTheCall() {
		Increment.of(this.server, "a", LONG);
		Increment sent = new Increment(Increment.PLAIN, "a", LONG);
		try (StoppedServer stopped = StoppedServer.stop(this.jedis)) {
			this.server.submit(sent);
			Connecting.assertFails(Reason.SILENCE, sent::await);
		}
		this.events.await("closed", 1);
		assertThat(Increment.of(this.server, "a", LONG)).isEqualTo(3);
		TestCluster.await("The late answer is there", () -> Long.valueOf(2).equals(sent.late()));
	}

	/** Nobody else can show that the server is there. */
	@Test
	void lateAnswerEndsAnOutageWithoutNewConnections() {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + this.port));
				Server server = Connecting.to(proxy.uri().getPort(), new ServerSettings("test", BUDGET, 1, 10),
						this.events)) {
			Increment.of(server, "a", LONG);
			proxy.refuseConnections();
			proxy.delay(BUDGET.multipliedBy(4));
			Increment sent = new Increment(Increment.PLAIN, "a", LONG);
			server.submit(sent);
			Connecting.assertFails(Reason.SILENCE, sent::await);
			proxy.delay(Duration.ZERO);
			this.events.await("closed", 1);
			TestCluster.await("The late answer is there", () -> Long.valueOf(2).equals(sent.late()));
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(3);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
	}

	/**
	 * The bounds of plain commands hold only if none is executed long after its time,
	 * such as after a pause of this process, in which its caller could not give it up.
	 */
	@Test
	void commandAnsweredAfterItsDeadlineFails() {
		try (Server patient = Connecting.to(this.port, Duration.ofSeconds(20), this.events)) {
			Increment.of(patient, "a", LONG);
			long deadline = System.nanoTime() + Duration.ofSeconds(1).toNanos();
			CommandCall call = new CommandCall((source) -> List.of(new CommandArguments(Command.INCR).key("a")), 1, 0,
					deadline);
			try (StoppedServer stopped = StoppedServer.stop(this.jedis)) {
				patient.submit(call);
				TestCluster.await("It is late", () -> System.nanoTime() - deadline > 0);
			}
			TestCluster.await("It is done", call::isDone);
			Connecting.assertFails(Reason.UNANSWERED, call::await);
			assertThat(Increment.of(patient, "a", LONG)).isEqualTo(3);
		}
	}

	@Test
	void pauseShorterThanTheBudgetIsNoOutage() {
		try (Server patient = Connecting.to(this.port, Duration.ofSeconds(10), this.events)) {
			Increment.of(patient, "a", LONG);
			pause(150);
			assertThat(Increment.of(patient, "a", LONG)).isEqualTo(2);
		}
		assertThat(this.events.all()).isEmpty();
	}

	@Test
	void breakerClosesWithTheFirstAnswerAfterAPause() {
		Increment.of(this.server, "a", LONG);
		pause(BUDGET.toMillis() * 2);
		Increment sent = new Increment(Increment.PLAIN, "a", LONG);
		this.server.submit(sent);
		Connecting.assertFails(Reason.SILENCE, sent::await);
		this.events.await("closed", 1);
		assertThat(Increment.of(this.server, "a", LONG)).isEqualTo(3);
		assertThat(this.events.all()).containsExactly("opened", "closed");
	}

	private void pause(long millis) {
		try (Jedis connection = new Jedis("127.0.0.1", this.port)) {
			connection.clientPause(millis);
		}
	}

	/** It is sent as a call is, and waits for much longer. */
	@Test
	void callsFailWhenTheLoginIsNotAnswered() throws Exception {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + this.port));
				Server server = server(proxy.uri().getPort(), LONG)) {
			proxy.delay(DELAY);
			Connecting.assertNotSent(() -> Increment.of(server, "a", LONG))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.OUTAGE))
				.withRootCauseInstanceOf(SocketTimeoutException.class);
			proxy.delay(Duration.ZERO);
			proxy.breakConnections();
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
	}

	@Test
	void oldLoginsDoNotBeginAnotherOutage() throws Exception {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + this.port));
				Server server = server(proxy.uri().getPort(), LONG)) {
			proxy.delay(DELAY);
			List<Increment> calls = List.of(new Increment(Increment.PLAIN, "b", LONG),
					new Increment(Increment.PLAIN, "b", LONG));
			calls.forEach(server::submit);
			assertThat(calls).allSatisfy((call) -> Connecting.assertNotSent(call::await));
			proxy.delay(Duration.ZERO);
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "b", LONG)).isEqualTo(1);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
	}

	/** Waits so long for connections and logins. */
	private Server server(int port, Duration patience) {
		var config = DefaultJedisClientConfig.builder().connectionTimeoutMillis((int) patience.toMillis()).build();
		return Connecting.trusting(Connecting.settings("test", BUDGET),
				OwnConnections.to(new HostAndPort("127.0.0.1", port), config), this.events);
	}

	@Test
	void singleSilentConnectionIsReplaced() throws Exception {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + this.port));
				Server server = Connecting.to(proxy.uri().getPort(), BUDGET, this.events)) {
			Increment.of(server, "a", LONG);
			proxy.delay(DELAY);
			Increment lost = new Increment(Increment.PLAIN, "a", LONG);
			server.submit(lost);
			this.events.await("opened", 1);
			proxy.delay(Duration.ZERO);
			this.events.await("closed", 1);
			// Far sooner than the delayed answer.
			assertThat(Increment.of(server, "b", LONG)).isEqualTo(1);
			Connecting.assertFails(Reason.SILENCE, lost::await);
		}
	}

}
