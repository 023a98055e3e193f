package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
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
import redis.clients.jedis.JedisClientConfig;
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

	private final Events events = new Events();

	private final AtomicBoolean breaks = new AtomicBoolean(true);

	private final AtomicInteger tries = new AtomicInteger();

	private Server server(Duration budget, Duration lasting, ConnectionSource source) {
		return new Server(new ServerSettings("lasting", budget, 2, 100, lasting), source, this.events);
	}

	private static void awaitKnown(Server server) {
		TestCluster.await("It is known", () -> {
			CallException ex = catchThrowableOfType(CallException.class, Increment.submit(server, BUDGET, "a")::await);
			return ex.reason() == Reason.OUTAGE && !ex.isBrief();
		});
	}

	@Test
	void serverIsGoneWhenConnectingLasts() throws IOException {
		JedisClientConfig patient = DefaultJedisClientConfig.builder()
			.connectionTimeoutMillis(Integer.MAX_VALUE)
			.build();
		try (FullBacklog full = new FullBacklog("127.0.0.1");
				Server server = server(BUDGET, Duration.ZERO,
						OwnConnections.to(new HostAndPort("127.0.0.1", full.port()), patient))) {
			awaitKnown(server);
			assertThat(this.events.all()).containsExactly("opened");
		}
	}

	@Test
	void serverIsGoneWhenProbeWaitsForPool() {
		CountDownLatch closed = new CountDownLatch(1);
		AtomicInteger borrowed = new AtomicInteger();
		try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri())) {
			HostAndPort address = new HostAndPort("127.0.0.1", proxy.uri().getPort());
			try (Server server = server(BUDGET, Duration.ZERO, new BorrowedConnections(() -> {
				if (borrowed.getAndIncrement() > 0) {
					await(closed);
				}
				return new Connection(address, DefaultJedisClientConfig.builder().build());
			}, List::of))) {
				proxy.delay(Increment.LONG);
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

	/**
	 * The probes are answered all the time, and so are questions about the server itself,
	 * such as those about the slots of a cluster.
	 */
	@Test
	void onlyAnAnsweredCallEndsTheOutageOfBrokenConnections() {
		try (AnsweringServer proxy = new AnsweringServer("INCR", ":1\r\n", this::breakConnection);
				Server server = server(Increment.LONG, Duration.ZERO, Connecting.source(proxy.uri().getPort()))) {
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> Increment.of(server, "a"));
			long start = System.nanoTime();
			Connecting.assertFails(Reason.SILENCE, () -> Increment.of(server, "a")).matches((ex) -> !ex.isBrief());
			TestCluster.await("Some calls pass", () -> {
				assertThat(failure(server)).matches((ex) -> !ex.isBrief());
				return this.tries.get() > 5;
			});
			long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
			assertThat(this.tries.get()).isLessThan(10 + 2 * (int) seconds);
			TestCluster.await("A question is answered", () -> isAnswered(server));
			assertThat(failure(server)).matches((ex) -> !ex.isBrief());
			assertThat(this.events.all()).containsExactly("opened");
			this.breaks.set(false);
			Connecting.awaitAnswer(server, "a");
			this.events.await("closed", 1);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
	}

	private static boolean isAnswered(Server server) {
		Call question = CommandCall.question(new CommandArguments(Command.PING), 1,
				System.nanoTime() + Increment.LONG.toNanos());
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
				Server server = server(BUDGET, BUDGET.multipliedBy(5), Connecting.source(proxy.uri().getPort()))) {
			TestCluster.await("It is known", () -> failure(server).getCause().getMessage().contains("at each call"));
			int before = Collections.frequency(this.events.all(), "closed");
			for (int i = 0; i < 20; i++) {
				assertThat(failure(server)).matches((ex) -> !ex.isBrief());
			}
			assertThat(this.events.all()).filteredOn("closed"::equals).hasSize(before);
			ends.countDown();
			Connecting.awaitAnswer(server, "a");
			this.events.await("closed", before + 1);
		}
	}

	private static CallException failure(Server server) {
		return catchThrowableOfType(CallException.class, () -> Increment.of(server, "a"));
	}

}
