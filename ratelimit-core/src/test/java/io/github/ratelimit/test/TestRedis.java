package io.github.ratelimit.test;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;

import io.github.ratelimit.redis.RedisConnections;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.JedisURIHelper;
import redis.embedded.RedisServer;

/**
 * The real Redis of a test run: the one that the environment variable
 * {@code RATELIMIT_TEST_REDIS} names, else one of the program that
 * {@code RATELIMIT_TEST_REDIS_SERVER} names, else one in a container if Docker answers,
 * else one from a Maven artifact. There is one for each test process, started when it is
 * first asked for and stopped when the process ends.
 */
public final class TestRedis {

	/** Name of the environment variable with the URI of a running server. */
	public static final String VARIABLE = "RATELIMIT_TEST_REDIS";

	/** Name of the environment variable with the file of a server's program. */
	public static final String PROGRAM_VARIABLE = "RATELIMIT_TEST_REDIS_SERVER";

	public static final Duration PATIENCE = Duration.ofSeconds(10);

	private static final Logger logger = LoggerFactory.getLogger(TestRedis.class);

	private static final int BUS = 10_000;

	private static final String IMAGE = "redis:8-alpine";

	private static final URI URI = start();

	private static final UnifiedJedis CLIENT = JedisClients.create(JedisURIHelper.getHostAndPort(URI), config(URI));

	private static final RedisConnections CONNECTIONS = connections(URI).build();

	private TestRedis() {
	}

	public static URI uri() {
		return URI;
	}

	/** A client that all tests share, and none closes. */
	public static UnifiedJedis client() {
		return CLIENT;
	}

	/** Connections that all tests share, and none closes. */
	public static RedisConnections connections() {
		return CONNECTIONS;
	}

	/**
	 * Connections to a server, with much time for each decision: the machine may be busy.
	 * @param uri the server, with how to log in
	 */
	public static RedisConnections.Builder connections(URI uri) {
		return RedisConnections.server(JedisURIHelper.getHostAndPort(uri)).config(config(uri)).timeBudget(PATIENCE);
	}

	/** On a busy machine an answer may take much longer than the two seconds of Jedis. */
	private static JedisClientConfig config(URI uri) {
		return DefaultJedisClientConfig.builder()
			.user(JedisURIHelper.getUser(uri))
			.password(JedisURIHelper.getPassword(uri))
			.database(JedisURIHelper.getDBIndex(uri))
			.timeoutMillis((int) Duration.ofMinutes(1).toMillis())
			.build();
	}

	public static String newKeyPrefix() {
		return "test-" + UUID.randomUUID();
	}

	private static URI start() {
		String given = System.getenv(VARIABLE);
		if (given != null && !given.isBlank()) {
			return started(java.net.URI.create(given), "given by " + VARIABLE);
		}
		if (program() == null && DockerClientFactory.instance().isDockerAvailable()) {
			return started(startContainer(), "in a container of " + IMAGE);
		}
		return started(startBinary(), (program() != null) ? "started from " + PROGRAM_VARIABLE
				: "from the Maven artifact embedded-redis, because Docker does not answer");
	}

	private static URI started(URI uri, String origin) {
		try (UnifiedJedis jedis = JedisClients.create(uri)) {
			String version = jedis.info("server")
				.lines()
				.filter((line) -> line.startsWith("redis_version:") || line.startsWith("valkey_version:"))
				.reduce((first, second) -> second)
				.orElse("unknown version");
			logger.info("Tests use {} at {}:{}, {}, with Jedis {}", version.replace("_version:", " ").strip(),
					uri.getHost(), uri.getPort(), origin, JedisClients.version());
		}
		return uri;
	}

	/**
	 * When a Redis key expires, in milliseconds since the epoch. Before Redis 7 that is
	 * found from the time that is left, in a millisecond that is known.
	 */
	public static long expiry(String key) {
		return (Long) CLIENT.eval("""
				local expiry = redis.pcall('PEXPIRETIME', KEYS[1])
				if type(expiry) == 'number' then
				    return expiry
				end
				local function millis()
				    local time = redis.call('TIME')
				    return time[1] * 1000 + math.floor(time[2] / 1000)
				end
				local before, left
				repeat
				    before, left = millis(), redis.call('PTTL', KEYS[1])
				until millis() == before
				return before + left
				""", List.of(key), List.of());
	}

	/** The time of the server, in microseconds since the epoch. */
	public static long micros() {
		return (Long) CLIENT.eval("local time = redis.call('TIME') return time[1] * 1000000 + time[2]");
	}

	/** The first millisecond since the epoch that is not before the moment. */
	public static long millisAfter(Instant moment) {
		return (ChronoUnit.MICROS.between(Instant.EPOCH, moment) + 999) / 1000;
	}

	@SuppressWarnings("resource")
	private static URI startContainer() {
		GenericContainer<?> container = new GenericContainer<>(IMAGE).withExposedPorts(6379);
		container.start();
		Runtime.getRuntime().addShutdownHook(new Thread(container::stop));
		return java.net.URI.create("redis://" + container.getHost() + ":" + container.getMappedPort(6379));
	}

	private static @Nullable File program() {
		String given = System.getenv(PROGRAM_VARIABLE);
		if (given == null || given.isBlank()) {
			return null;
		}
		File program = new File(given);
		if (!program.canExecute()) {
			throw new IllegalStateException(
					"Invalid %s (%s): must be a file that can be executed.".formatted(PROGRAM_VARIABLE, given));
		}
		return program;
	}

	/** Starts a server of its own for a test that stops or harms it. */
	public static RedisServer startServer(int port, String... settings) {
		try {
			var builder = RedisServer.newRedisServer()
				.port(port)
				.bind("127.0.0.1")
				.setting("save \"\"")
				.setting("dir \"" + newFolder("redis") + "\"")
				.setting("appendonly no")
				.setting("daemonize no");
			File program = program();
			if (program != null) {
				builder.executableProvider(() -> program);
			}
			for (String setting : settings) {
				builder.setting(setting);
			}
			RedisServer server = builder.build();
			server.start();
			return server;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A replica leaves there what it has got of its master, which the next server would
	 * load that starts in the same folder.
	 */
	static Path newFolder(String prefix) {
		try {
			Path folder = Files.createTempDirectory(prefix);
			folder.toFile().deleteOnExit();
			folder.resolve("dump.rdb").toFile().deleteOnExit();
			return folder;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public static int freePort() {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The cluster bus of a node has the port that is larger by 10,000. */
	@SuppressWarnings("try")
	static int freePortOfNode() {
		while (true) {
			int port = freePort();
			if (port + BUS <= 65_535) {
				try (ServerSocket bus = new ServerSocket(port + BUS, 1, InetAddress.getLoopbackAddress())) {
					return port;
				}
				catch (IOException ex) {
					// Not free: another one.
				}
			}
		}
	}

	private static URI startBinary() {
		int port = freePort();
		RedisServer server = startServer(port);
		Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server)));
		return java.net.URI.create("redis://127.0.0.1:" + port);
	}

	public static void stop(RedisServer server) {
		try {
			server.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
