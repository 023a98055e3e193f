package io.github.ratelimit.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;
import redis.embedded.RedisServer;

/**
 * The server that is measured: the one that the environment variable
 * {@code RATELIMIT_TEST_REDIS} names, else one of its own on a free loopback port.
 */
final class MeasuredRedis implements AutoCloseable {

	/** As long as the default prefix, so that memory can be compared. */
	static final String KEY_PREFIX = "benchmark";

	private static final String VARIABLE = "RATELIMIT_TEST_REDIS";

	private final @Nullable RedisServer server;

	private final URI uri;

	private final UnifiedJedis client;

	private MeasuredRedis(@Nullable RedisServer server, URI uri) {
		this.server = server;
		this.uri = uri;
		this.client = RedisClient.create(uri);
	}

	static MeasuredRedis start() {
		String given = System.getenv(VARIABLE);
		if (given != null && !given.isBlank()) {
			return new MeasuredRedis(null, URI.create(given));
		}
		try {
			int port = freePort();
			RedisServer server = RedisServer.newRedisServer()
				.port(port)
				.bind("127.0.0.1")
				.setting("save \"\"")
				.setting("appendonly no")
				.setting("daemonize no")
				.build();
			server.start();
			return new MeasuredRedis(server, URI.create("redis://127.0.0.1:" + port));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	URI uri() {
		return this.uri;
	}

	UnifiedJedis client() {
		return this.client;
	}

	CommandStatistics statistics() {
		return CommandStatistics.parse(this.client.info("commandstats"));
	}

	/** Name and version, such as {@code Redis 7.0.15}. */
	String version() {
		String info = this.client.info("server");
		return info.lines()
			.filter((line) -> line.startsWith("valkey_version:"))
			.findFirst()
			.or(() -> info.lines().filter((line) -> line.startsWith("redis_version:")).findFirst())
			.map((line) -> line.replace("valkey_version:", "Valkey ").replace("redis_version:", "Redis "))
			.orElse("unknown server");
	}

	/** Redis keys that were written for measuring. */
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
