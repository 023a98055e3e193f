package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.TricklingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers that are there and say nothing.
 */
@Timeout(120)
@SuppressWarnings("try")
class SilenceIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private static final Duration LONG = Duration.ofSeconds(60);

	/** Much more than scheduling takes. */
	private static final Duration CEILING = BUDGET.plusSeconds(3);

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
	void callsFailAtOnceWhenTheServerHangs() {
		Increment.of(this.server, "a", LONG);
		try (StoppedServer stopped = StoppedServer.stop(this.jedis)) {
			Increment sent = new Increment(Increment.PLAIN, "a", LONG);
			this.server.submit(sent);
			long start = System.nanoTime();
			Connecting.assertFails(Reason.SILENCE, sent::await)
				.satisfies((ex) -> assertThat(ex.getCause()).hasMessageContaining("Nothing was received for PT0.3S"));
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CEILING);
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
		long end;
		try (StoppedServer stopped = StoppedServer.stop(this.jedis)) {
			this.server.submit(sent);
			Connecting.assertFails(Reason.SILENCE, sent::await);
			end = System.nanoTime();
		}
		this.events.await("closed", 1);
		assertThat(Duration.ofNanos(System.nanoTime() - end)).isLessThan(Duration.ofSeconds(3));
		assertThat(Increment.of(this.server, "a", LONG)).isEqualTo(3);
		TestCluster.await("The late answer is there", () -> Long.valueOf(2).equals(sent.late()));
	}

	/** Nobody else can show that the server is there. */
	@Test
	void lateAnswerEndsTheOutageWhereNoConnectionCanBeMade() {
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
		long start = System.nanoTime();
		Increment sent = new Increment(Increment.PLAIN, "a", LONG);
		this.server.submit(sent);
		Connecting.assertFails(Reason.SILENCE, sent::await);
		this.events.await("closed", 1);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(BUDGET.multipliedBy(2).plusSeconds(3));
		assertThat(Increment.of(this.server, "a", LONG)).isEqualTo(3);
		assertThat(this.events.all()).containsExactly("opened", "closed");
	}

	private void pause(long millis) {
		try (Jedis connection = new Jedis("127.0.0.1", this.port)) {
			connection.clientPause(millis);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 32, 200 })
	void callersNeverWaitPastTheirDeadlineWhenServerHangs(int callers) throws Exception {
		Increment.of(this.server, "a", LONG);
		long[] waited = new long[callers];
		try (StoppedServer stopped = StoppedServer.stop(this.jedis)) {
			CountDownLatch start = new CountDownLatch(1);
			List<Thread> threads = IntStream.range(0, callers).mapToObj((i) -> new Thread(() -> {
				try {
					start.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
				long begin = System.nanoTime();
				assertThatExceptionOfType(JedisException.class)
					.isThrownBy(() -> Increment.of(this.server, "a", BUDGET));
				waited[i] = System.nanoTime() - begin;
			})).toList();
			threads.forEach(Thread::start);
			start.countDown();
			for (Thread thread : threads) {
				thread.join();
			}
		}
		assertThat(Duration.ofNanos(Arrays.stream(waited).max().orElseThrow())).isPositive().isLessThan(CEILING);
	}

	@Test
	void callsEndWhenServerAcceptsNoConnections() throws IOException {
		try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			List<Socket> waiting = new ArrayList<>();
			try (Server none = server(full.getLocalPort(), Duration.ofMillis(500))) {
				FullBacklog.fill(full, waiting);
				Connecting.assertNotSent(() -> Increment.of(none, "a", BUDGET))
					.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.TOO_LATE));
				this.events.await("opened", 1);
				Connecting.assertNotSent(() -> Increment.of(none, "a", LONG))
					.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.OUTAGE));
			}
			finally {
				for (Socket socket : waiting) {
					socket.close();
				}
			}
		}
	}

	/**
	 * The server is there, so that the breaker stays closed until an answer is too long.
	 */
	@Test
	void callsEndWhenTheServerAnswersByteByByte() throws IOException {
		List<Reason> reasons = new ArrayList<>();
		try (TricklingServer slow = new TricklingServer(false);
				Server server = Connecting.toTrickling(slow, BUDGET, this.events)) {
			for (int i = 0; i < 3; i++) {
				long start = System.nanoTime();
				assertThatExceptionOfType(CallException.class).isThrownBy(() -> Increment.of(server, "a", BUDGET))
					.satisfies((ex) -> reasons.add(ex.reason()));
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CEILING);
			}
			assertThat(reasons).contains(Reason.UNANSWERED).isSubsetOf(Reason.UNANSWERED, Reason.TOO_LATE);
			assertThat(this.events.all()).isEmpty();
		}
	}

	/** It is sent as a call is, and waits for much longer. */
	@Test
	void callsFailAtOnceWhenTheLoginIsNotAnswered() throws Exception {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + this.port));
				Server server = server(proxy.uri().getPort(), LONG)) {
			proxy.delay(CEILING.plusSeconds(2));
			long start = System.nanoTime();
			Connecting.assertNotSent(() -> Increment.of(server, "a", LONG))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.OUTAGE))
				.withRootCauseInstanceOf(SocketTimeoutException.class);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CEILING);
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
			proxy.delay(CEILING.plusSeconds(2));
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
		return new Server(Connecting.settings("test", BUDGET),
				OwnConnections.to(new HostAndPort("127.0.0.1", port), config), this.events);
	}

	@Test
	void singleSilentConnectionIsReplaced() throws Exception {
		try (FaultyProxy proxy = new FaultyProxy(URI.create("redis://127.0.0.1:" + this.port));
				Server server = Connecting.to(proxy.uri().getPort(), BUDGET, this.events)) {
			Increment.of(server, "a", LONG);
			proxy.delay(Duration.ofSeconds(5));
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
