package io.github.ratelimit.redis.connection;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.TricklingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long callers wait for servers with a fault, beside as many threads that only sleep
 * for the budget: what the machine adds, it adds to both. The times are asserted in the
 * nightly build only; why callers give up, always. A host with a dead address is in
 * {@link DeadAddressIT}.
 */
@Timeout(120)
class DeadlineIT {

	private static final int ROUNDS = 5;

	@ParameterizedTest
	@ValueSource(ints = { 1, 32, 200 })
	void serverHangs(int callers) throws Exception {
		Waiting waiting = new Waiting(callers);
		for (int i = 0; i < ROUNDS; i++) {
			try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri());
					Server server = Connecting.to(proxy.uri().getPort(), Waiting.BUDGET, Connecting.NOBODY)) {
				Connecting.awaitAnswer(server);
				proxy.delay(Duration.ofSeconds(10));
				waiting.waitFor(server);
			}
		}
		assertInTime("hung server", waiting, Reason.UNANSWERED, Reason.SILENCE, Reason.OUTAGE, Reason.TOO_LATE);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 32, 200 })
	void serverAcceptsNoConnections(int callers) throws Exception {
		Waiting waiting = new Waiting(callers);
		List<Socket> sockets = new ArrayList<>();
		try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			FullBacklog.fill(full, sockets);
			for (int i = 0; i < ROUNDS; i++) {
				try (Server server = Connecting.to(full.getLocalPort(), Waiting.BUDGET, Connecting.NOBODY)) {
					waiting.waitFor(server);
				}
			}
		}
		finally {
			for (Socket socket : sockets) {
				socket.close();
			}
		}
		assertInTime("server that accepts nobody", waiting, Reason.TOO_LATE, Reason.OUTAGE);
	}

	/** Its system accepts connections, and keeps what is sent. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 32, 200 })
	void nobodyAnswersOnConnections(int callers) throws Exception {
		Waiting waiting = new Waiting(callers);
		for (int i = 0; i < ROUNDS; i++) {
			try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
					Server server = Connecting.to(silent.getLocalPort(), Waiting.BUDGET, Connecting.NOBODY)) {
				waiting.waitFor(server);
			}
		}
		assertInTime("server that answers nobody", waiting, Reason.TOO_LATE, Reason.OUTAGE);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 32, 200 })
	void serverAnswersByteByByte(int callers) throws Exception {
		Waiting waiting = new Waiting(callers);
		try (TricklingServer slow = new TricklingServer(false)) {
			for (int i = 0; i < ROUNDS; i++) {
				try (Server server = Connecting.toTrickling(slow, Waiting.BUDGET, Connecting.NOBODY)) {
					waiting.waitFor(server);
				}
			}
		}
		assertThat(waiting.outcomes()).contains(Reason.UNANSWERED);
		// It is silent while no processor is free for it.
		assertInTime("a byte every 20 ms", waiting, Reason.UNANSWERED, Reason.TOO_LATE, Reason.SILENCE, Reason.OUTAGE);
	}

	@Test
	void handshakeIsAnsweredByteByByte() throws Exception {
		Waiting waiting = new Waiting(32);
		try (TricklingServer slow = new TricklingServer(true)) {
			for (int i = 0; i <= ROUNDS; i++) {
				try (Server server = encrypted(slow)) {
					// Classes are loaded before anything is measured.
					((i == 0) ? new Waiting(1) : waiting).waitFor(server);
				}
			}
		}
		assertInTime("a byte of a handshake every 20 ms", waiting, Reason.TOO_LATE);
	}

	private static Server encrypted(TricklingServer slow) {
		return new Server(Connecting.settings("slow", Waiting.BUDGET), OwnConnections
			.to(new HostAndPort("127.0.0.1", slow.port()), DefaultJedisClientConfig.builder().ssl(true).build()),
				Connecting.NOBODY);
	}

	private static void assertInTime(String fault, Waiting waiting, Reason... reasons) {
		assertThat(waiting.outcomes()).isNotEmpty().isSubsetOf((Object[]) reasons);
		waiting.assertInTime(fault);
	}

}
