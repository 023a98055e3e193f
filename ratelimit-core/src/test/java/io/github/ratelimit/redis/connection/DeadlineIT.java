package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.TricklingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long callers wait for servers with a fault, beside as many threads that only sleep
 * for the budget: what the machine adds, it adds to both. The times are asserted in the
 * nightly build only; why callers give up, always.
 */
@Timeout(120)
class DeadlineIT {

	private static final int ROUNDS = 5;

	@ParameterizedTest
	@ValueSource(ints = { 1, 32, 200 })
	void serverHangs(int callers) {
		Waiting waiting = new Waiting(callers);
		for (int i = 0; i < ROUNDS; i++) {
			try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri()); Server server = connect(proxy.uri().getPort())) {
				Connecting.awaitAnswer(server, "a");
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
		try (FullBacklog full = new FullBacklog("127.0.0.1")) {
			for (int i = 0; i < ROUNDS; i++) {
				try (Server server = connect(full.port())) {
					waiting.waitFor(server);
				}
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
					Server server = connect(silent.getLocalPort())) {
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
				try (Server server = connect(slow.port())) {
					// A call that is too late to be sent makes a connection.
					Increment.submit(server, Duration.ZERO, "a");
					TestCluster.await("There is a connection", server::isInUse);
					waiting.waitFor(server);
				}
			}
		}
		assertThat(waiting.outcomes()).contains(Reason.UNANSWERED);
		// It is silent while no processor is free for it.
		assertInTime("a byte every 20 ms", waiting, Reason.UNANSWERED, Reason.TOO_LATE, Reason.SILENCE, Reason.OUTAGE);
	}

	private static Server connect(int port) {
		return Connecting.to(port, Waiting.BUDGET, Connecting.NOBODY);
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

	/** A host has two addresses, of which one takes no connections. */
	@Test
	void otherAddressIsTriedInTime(@TempDir Path folder) throws Exception {
		try (FullBacklog full = new FullBacklog("127.0.0.2")) {
			RedisServer redis = TestRedis.startServer(full.port());
			Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.2 both\n127.0.0.1 both\n");
			try {
				assertThat(fork(hosts, full.port())).contains("answers: 1, 2, 3, 4").contains("in time: 1, 32, 200");
			}
			finally {
				TestRedis.stop(redis);
			}
		}
	}

	/** Addresses of hosts can be set for a whole process only. */
	private static String fork(Path hosts, int port) throws IOException {
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Djdk.net.hosts.file=" + hosts, "-cp", System.getProperty("java.class.path"), Main.class.getName(),
				String.valueOf(port))
			.redirectErrorStream(true)
			.start();
		return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
	}

	/** Asks servers, each of which connects anew, to the addresses in any order. */
	static final class Main {

		private Main() {
		}

		public static void main(String[] args) {
			HostAndPort address = new HostAndPort("both", Integer.parseInt(args[0]));
			List<String> answers = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				try (Server server = connect(address, Increment.LONG)) {
					answers.add(String.valueOf(Increment.of(server, "a")));
				}
			}
			System.out.println("answers: " + String.join(", ", answers));
			System.out.println("in time: " + Stream.of(1, 32, 200).map((callers) -> {
				Waiting waiting = new Waiting(callers);
				for (int i = 0; i < 5; i++) {
					try (Server server = connect(address, Waiting.BUDGET)) {
						waiting.waitFor(server);
					}
				}
				assertThat(waiting.outcomes()).allMatch((outcome) -> outcome instanceof Long
						|| outcome == Reason.TOO_LATE || outcome == Reason.UNANSWERED);
				waiting.assertInTime("host with a dead address");
				return callers.toString();
			}).collect(Collectors.joining(", ")));
		}

		private static Server connect(HostAndPort address, Duration budget) {
			JedisClientConfig config = DefaultJedisClientConfig.builder().connectionTimeoutMillis(500).build();
			return new Server(Connecting.settings("test", budget), OwnConnections.to(address, config),
					Connecting.NOBODY);
		}

	}

}
