package io.github.ratelimit.benchmarks;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;
import redis.clients.jedis.util.JedisURIHelper;
import redis.embedded.RedisServer;
import redis.embedded.core.RedisServerBuilder;

/**
 * The server that is measured: the one in the environment variable
 * {@code RATELIMIT_TEST_REDIS}, or else a new one on a free loopback port. The new one
 * runs the program in {@code RATELIMIT_TEST_REDIS_SERVER}, or else one from a Maven
 * artifact.
 */
public final class MeasuredRedis implements AutoCloseable {

	/** As long as the default prefix, so that memory can be compared. */
	public static final String KEY_PREFIX = "benchmark";

	private static final String VARIABLE = "RATELIMIT_TEST_REDIS";

	private static final String PROGRAM_VARIABLE = "RATELIMIT_TEST_REDIS_SERVER";

	/** The largest number of callers, so that none waits for a connection. */
	private static final int CONNECTIONS = 64;

	private final @Nullable RedisServer server;

	private final URI uri;

	private final UnifiedJedis client;

	private MeasuredRedis(@Nullable RedisServer server, URI uri) {
		this.server = server;
		this.uri = uri;
		this.client = connect(uri);
	}

	static MeasuredRedis start() {
		String given = System.getenv(VARIABLE);
		if (given != null && !given.isBlank()) {
			return new MeasuredRedis(null, URI.create(given));
		}
		return startOwn();
	}

	/**
	 * Starts a new server, even if the environment names one.
	 */
	public static MeasuredRedis startOwn() {
		try {
			int port = freePort();
			RedisServerBuilder builder = RedisServer.newRedisServer()
				.port(port)
				.bind("127.0.0.1")
				.setting("save \"\"")
				.setting("appendonly no")
				.setting("daemonize no");
			String program = System.getenv(PROGRAM_VARIABLE);
			if (program != null && !program.isBlank()) {
				builder.executableProvider(() -> new File(program));
			}
			RedisServer server = builder.build();
			server.start();
			return new MeasuredRedis(server, URI.create("redis://127.0.0.1:" + port));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Creates a client with as many connections as there are callers.
	 */
	public static UnifiedJedis connect(URI uri) {
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(CONNECTIONS);
		pool.setMaxIdle(CONNECTIONS);
		return RedisClient.builder()
			.hostAndPort(JedisURIHelper.getHostAndPort(uri))
			.clientConfig(DefaultJedisClientConfig.builder()
				.user(JedisURIHelper.getUser(uri))
				.password(JedisURIHelper.getPassword(uri))
				.database(JedisURIHelper.getDBIndex(uri))
				.build())
			.poolConfig(pool)
			.build();
	}

	static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	/**
	 * Returns the address of the server.
	 */
	public URI uri() {
		return this.uri;
	}

	/**
	 * Returns a client of the server, which is closed with it.
	 */
	public UnifiedJedis client() {
		return this.client;
	}

	/**
	 * Returns what the server has executed since it was started.
	 */
	public CommandStatistics statistics() {
		return CommandStatistics.parse(this.client.info("commandstats"));
	}

	/**
	 * Returns name and version, such as {@code Redis 7.0.15}.
	 */
	public String version() {
		String info = this.client.info("server");
		return info.lines()
			.filter((line) -> line.startsWith("valkey_version:"))
			.findFirst()
			.or(() -> info.lines().filter((line) -> line.startsWith("redis_version:")).findFirst())
			.map((line) -> line.replace("valkey_version:", "Valkey ").replace("redis_version:", "Redis "))
			.orElse("unknown server");
	}

	/** Returns the Redis keys that were written for measuring. */
	List<String> keys() {
		List<String> keys = new ArrayList<>();
		ScanParams pattern = new ScanParams().match(KEY_PREFIX + ":*").count(1000);
		String cursor = ScanParams.SCAN_POINTER_START;
		do {
			ScanResult<String> page = this.client.scan(cursor, pattern);
			keys.addAll(page.getResult());
			cursor = page.getCursor();
		}
		while (!cursor.equals(ScanParams.SCAN_POINTER_START));
		return keys;
	}

	void clear() {
		keys().forEach(this.client::del);
	}

	@Override
	public void close() {
		clear();
		this.client.close();
		if (this.server != null) {
			try {
				this.server.stop();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

}
