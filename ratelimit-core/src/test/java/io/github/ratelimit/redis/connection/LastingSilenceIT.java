package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.redis.AnsweringServer;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * When it is known that a server is gone, whatever its connections wait for.
 */
@Timeout(120)
class LastingSilenceIT {

	private static final Duration BUDGET = Duration.ofMillis(100);

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final int FOR_EVER = Integer.MAX_VALUE;

	private final Events events = new Events();

	private final AtomicBoolean breaks = new AtomicBoolean(true);

	private final AtomicInteger tries = new AtomicInteger();

	private static ServerSettings settings(Duration budget) {
		return new ServerSettings("lasting", budget, 2, 100, Duration.ZERO);
	}

	private static void awaitKnown(Server server) {
		TestCluster.await("It is known", () -> {
			try {
				Increment.of(server, "a", BUDGET);
				return false;
			}
			catch (CallException ex) {
				return ex.reason() == Reason.OUTAGE && !ex.isBrief();
			}
		});
	}

	@Test
	void serverIsGoneWhenConnectingLasts() throws IOException {
		List<Socket> waiting = new ArrayList<>();
		try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
				Server server = new Server(settings(BUDGET),
						OwnConnections.to(new HostAndPort("127.0.0.1", full.getLocalPort()),
								DefaultJedisClientConfig.builder().connectionTimeoutMillis(FOR_EVER).build()),
						this.events)) {
			FullBacklog.fill(full, waiting);
			awaitKnown(server);
			assertThat(this.events.all()).containsExactly("opened");
		}
		finally {
			for (Socket socket : waiting) {
				socket.close();
			}
		}
	}

	@Test
	void serverIsGoneWhenProbeWaitsForPool() {
		CountDownLatch closed = new CountDownLatch(1);
		AtomicInteger borrowed = new AtomicInteger();
		try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri())) {
			HostAndPort address = new HostAndPort("127.0.0.1", proxy.uri().getPort());
			try (Server server = Connecting.trusting(settings(BUDGET), new BorrowedConnections(() -> {
				if (borrowed.getAndIncrement() > 0) {
					await(closed);
				}
				return new Connection(address, DefaultJedisClientConfig.builder().build());
			}, List::of), this.events)) {
				proxy.delay(LONG);
				awaitKnown(server);
				closed.countDown();
			}
		}
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void breakConnection() {
		this.tries.incrementAndGet();
		if (this.breaks.get()) {
			throw new UncheckedIOException(new IOException("of a test"));
		}
	}

	/** The probes are answered all the time. */
	@Test
	void onlyAnAnswerEndsTheOutageOfBrokenConnections() {
		try (AnsweringServer proxy = new AnsweringServer("INCR", ":1\r\n", this::breakConnection);
				Server server = new Server(settings(LONG), Connecting.source("127.0.0.1", proxy.uri().getPort()),
						this.events)) {
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
			long start = System.nanoTime();
			Connecting.assertFails(Reason.SILENCE, () -> Increment.of(server, "a", LONG))
				.matches((ex) -> !ex.isBrief());
			TestCluster.await("Some calls pass", () -> {
				assertThatExceptionOfType(CallException.class).isThrownBy(() -> Increment.of(server, "a", LONG))
					.matches((ex) -> !ex.isBrief());
				return this.tries.get() > 5;
			});
			long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
			assertThat(this.tries.get()).isLessThan(10 + 2 * (int) seconds);
			assertThat(this.events.all()).containsExactly("opened");
			this.breaks.set(false);
			assertThat(Connecting.awaitAnswer(server)).isEqualTo(1);
			this.events.await("closed", 1);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
	}

	/** Such as those about the slots of a cluster. */
	@Test
	void answersAboutTheServerItselfDoNotEndTheOutage() {
		try (AnsweringServer proxy = new AnsweringServer("INCR", ":1\r\n", this::breakConnection);
				Server server = new Server(settings(LONG), Connecting.source("127.0.0.1", proxy.uri().getPort()),
						this.events)) {
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
			Connecting.assertFails(Reason.SILENCE, () -> Increment.of(server, "a", LONG));
			TestCluster.await("A question is answered", () -> isAnswered(server));
			assertThat(failure(server)).matches((ex) -> !ex.isBrief());
			assertThat(this.events.all()).containsExactly("opened");
		}
	}

	private static boolean isAnswered(Server server) {
		Call question = CommandCall.question(new CommandArguments(Command.PING), 1, System.nanoTime() + LONG.toNanos());
		server.submit(question);
		try {
			question.await();
			return true;
		}
		catch (CallException ex) {
			return false;
		}
	}

	/** As if the server were slow, but nothing ever comes. */
	@Test
	void onlyAnAnsweredCallEndsOutageOfSilentCalls() {
		CountDownLatch ends = new CountDownLatch(1);
		try (AnsweringServer proxy = new AnsweringServer("INCR", ":1\r\n", () -> await(ends));
				Server server = new Server(new ServerSettings("lasting", BUDGET, 2, 100, BUDGET.multipliedBy(5)),
						Connecting.source("127.0.0.1", proxy.uri().getPort()), this.events)) {
			TestCluster.await("It is known", () -> failure(server).getCause().getMessage().contains("at each call"));
			int before = Collections.frequency(this.events.all(), "closed");
			for (int i = 0; i < 20; i++) {
				assertThat(failure(server)).matches((ex) -> !ex.isBrief());
			}
			assertThat(this.events.all()).filteredOn("closed"::equals).hasSize(before);
			ends.countDown();
			assertThat(Connecting.awaitAnswer(server)).isEqualTo(1);
			this.events.await("closed", before + 1);
		}
	}

	private static CallException failure(Server server) {
		return catchThrowableOfType(CallException.class, () -> Increment.of(server, "a", LONG));
	}

}
