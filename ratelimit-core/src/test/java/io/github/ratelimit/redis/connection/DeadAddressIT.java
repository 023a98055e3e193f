package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A host with two addresses, of which one takes no connections.
 */
@Timeout(120)
class DeadAddressIT {

	private static final Duration LONG = Duration.ofSeconds(60);

	@TempDir
	private Path folder;

	@Test
	void otherAddressIsTriedInTime() throws Exception {
		List<Socket> waiting = new ArrayList<>();
		try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.2"))) {
			FullBacklog.fill(full, waiting);
			RedisServer redis = TestRedis.startServer(full.getLocalPort());
			Path hosts = Files.writeString(this.folder.resolve("hosts"), "127.0.0.2 both\n127.0.0.1 both\n");
			try {
				assertThat(fork(hosts, full.getLocalPort())).contains("answers: 1, 2, 3, 4")
					.contains("in time: 1, 32, 200");
			}
			finally {
				TestRedis.stop(redis);
			}
		}
		finally {
			for (Socket socket : waiting) {
				socket.close();
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
				try (Server server = connect(address, LONG)) {
					answers.add(String.valueOf(Increment.of(server, "a", LONG)));
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
