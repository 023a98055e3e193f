package io.github.ratelimit.redis.connection;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers that are there and say nothing.
 */
@Timeout(120)
@SuppressWarnings("try")
class SilenceIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	/** Much longer than a silence. */
	private static final Duration DELAY = Duration.ofSeconds(5);

	private final OwnRedis redis = new OwnRedis();

	private final Events events = new Events();

	private final Server server = Connecting.to(this.redis.port(), BUDGET, this.events);

	private final FaultyProxy proxy = new FaultyProxy(this.redis.uri());

	@AfterEach
	void stop() {
		this.server.close();
		this.proxy.close();
		this.redis.close();
	}

	@Test
	void callsFailWhileServerHangsUntilTheLateAnswer() {
		Increment.of(this.server, "a");
		Increment sent;
		try (StoppedServer stopped = StoppedServer.stop(this.redis.jedis())) {
			sent = Increment.submit(this.server, Increment.LONG, "a");
			Connecting.assertFails(Reason.SILENCE, sent::await)
				.satisfies((ex) -> assertThat(ex.getCause()).hasMessageContaining("Nothing was received for PT0.3S"));
			assertThat(this.server.isUnavailable()).isTrue();
			Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(this.server, "a"));
		}
		this.events.await("closed", 1);
		assertThat(Increment.of(this.server, "a")).isEqualTo(3);
		assertThat(this.events.all()).containsExactly("opened", "closed");
		TestCluster.await("The late answer is there", () -> Long.valueOf(2).equals(sent.late()));
	}

	/** Nobody else can show that the server is there. */
	@Test
	void lateAnswerEndsAnOutageWithoutNewConnections() {
		try (Server one = Connecting.to(this.proxy.uri().getPort(), new ServerSettings("test", BUDGET, 1, 10),
				this.events)) {
			Increment.of(one, "a");
			this.proxy.refuseConnections();
			this.proxy.delay(BUDGET.multipliedBy(4));
			Increment sent = Increment.submit(one, Increment.LONG, "a");
			Connecting.assertFails(Reason.SILENCE, sent::await);
			this.proxy.delay(Duration.ZERO);
			this.events.await("closed", 1);
			TestCluster.await("The late answer is there", () -> Long.valueOf(2).equals(sent.late()));
			assertThat(Increment.of(one, "a")).isEqualTo(3);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
	}

	/**
	 * The bounds of plain commands hold only if none is executed long after its time,
	 * such as after a pause of this process, in which its caller could not give it up.
	 */
	@Test
	void commandAnsweredAfterItsDeadlineFails() {
		try (Server patient = Connecting.to(this.redis.port(), Duration.ofSeconds(20), this.events)) {
			Increment.of(patient, "a");
			long deadline = System.nanoTime() + Duration.ofSeconds(1).toNanos();
			CommandCall call = new CommandCall((source) -> List.of(new CommandArguments(Command.INCR).key("a")), 1, 0,
					deadline);
			try (StoppedServer stopped = StoppedServer.stop(this.redis.jedis())) {
				patient.submit(call);
				TestCluster.await("It is late", () -> System.nanoTime() - deadline > 0);
			}
			TestCluster.await("It is done", call::isDone);
			Connecting.assertFails(Reason.UNANSWERED, call::await);
			assertThat(Increment.of(patient, "a")).isEqualTo(3);
		}
	}

	@Test
	void pauseShorterThanTheBudgetIsNoOutage() {
		try (Server patient = Connecting.to(this.redis.port(), Duration.ofSeconds(10), this.events);
				Jedis admin = new Jedis("127.0.0.1", this.redis.port())) {
			Increment.of(patient, "a");
			admin.clientPause(150);
			assertThat(Increment.of(patient, "a")).isEqualTo(2);
		}
		assertThat(this.events.all()).isEmpty();
	}

	/** They are sent as calls are, and wait for much longer. */
	@Test
	void callsFailWhenTheLoginIsNotAnswered() {
		JedisClientConfig patient = DefaultJedisClientConfig.builder()
			.connectionTimeoutMillis((int) Increment.LONG.toMillis())
			.build();
		try (Server slow = Connecting.trusting(Connecting.settings("test", BUDGET),
				OwnConnections.to(new HostAndPort("127.0.0.1", this.proxy.uri().getPort()), patient), this.events)) {
			this.proxy.delay(DELAY);
			List<Increment> calls = Stream.generate(() -> Increment.submit(slow, Increment.LONG, "b"))
				.limit(2)
				.toList();
			assertThat(calls).allSatisfy((call) -> Connecting.assertFails(Reason.OUTAGE, call::await)
				.withRootCauseInstanceOf(SocketTimeoutException.class));
			this.proxy.delay(Duration.ZERO);
			this.events.await("closed", 1);
			assertThat(Increment.of(slow, "b")).isEqualTo(1);
			assertThat(this.events.all()).as("old logins begin no other outage").containsExactly("opened", "closed");
		}
	}

	@Test
	void singleSilentConnectionIsReplaced() {
		try (Server one = Connecting.to(this.proxy.uri().getPort(), BUDGET, this.events)) {
			Increment.of(one, "a");
			this.proxy.delay(DELAY);
			Increment lost = Increment.submit(one, Increment.LONG, "a");
			this.events.await("opened", 1);
			this.proxy.delay(Duration.ZERO);
			this.events.await("closed", 1);
			// Far sooner than the delayed answer.
			assertThat(Increment.of(one, "b")).isEqualTo(1);
			Connecting.assertFails(Reason.SILENCE, lost::await);
		}
	}

	@Test
	void lateCallIsToldHowLongTheLastAnswerTook() {
		this.proxy.delay(BUDGET.multipliedBy(2));
		try (Server slow = Connecting.to(this.proxy.uri().getPort(), BUDGET, Connecting.NOBODY)) {
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(slow, "a"));
			TestCluster.await("It answers", () -> !slow.isUnavailable());
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(slow, "a"))
				.havingRootCause()
				.withMessageMatching(".*the last answer took \\d{3,} ms.*ratelimit.redis.timeout.*");
		}
	}

}
