package io.github.ratelimit.spring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;

import io.github.ratelimit.test.TestRedis;
import org.awaitility.Awaitility;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;

/**
 * A master, its replica, and a sentinel that makes the replica the master when that
 * fails, all with passwords.
 */
public final class OwnSentinel implements AutoCloseable {

	/** Much longer than anything takes. */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final int masterPort = TestRedis.freePort();

	private final int replicaPort = TestRedis.freePort();

	private final int port = TestRedis.freePort();

	private final RedisServer master = TestRedis.startServer(this.masterPort, "requirepass secret",
			"masterauth secret");

	private final RedisServer replica = TestRedis.startServer(this.replicaPort, "requirepass secret",
			"masterauth secret", "replicaof 127.0.0.1 " + this.masterPort);

	private final RedisSentinel sentinel;

	/** Ends when the sentinel knows the replica. */
	public OwnSentinel() {
		try (UnifiedJedis jedis = master()) {
			Awaitility.await().atMost(PATIENCE).until(() -> jedis.info("replication").contains("state=online"));
		}
		try {
			this.sentinel = RedisSentinel.newRedisSentinel()
				.bind("127.0.0.1")
				.port(this.port)
				.setting("sentinel monitor main 127.0.0.1 %d 1".formatted(this.masterPort))
				.setting("sentinel auth-pass main secret")
				.setting("sentinel down-after-milliseconds main 500")
				.setting("sentinel failover-timeout main 2000")
				// The user of the documentation, and no other without a password.
				.setting("requirepass other")
				.setting("user guard on >open resetchannels +sentinel|get-master-addr-by-name")
				.build();
			this.sentinel.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		try (Jedis jedis = sentinel()) {
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> jedis.sentinelReplicas("main")
					.stream()
					.anyMatch((replica) -> "ok".equals(replica.get("master-link-status"))));
		}
	}

	public int port() {
		return this.port;
	}

	/** Returns connections to the first master. */
	public UnifiedJedis master() {
		return RedisClient.create("redis://:secret@127.0.0.1:" + this.masterPort + "/2");
	}

	private Jedis sentinel() {
		return new Jedis("redis://:other@127.0.0.1:" + this.port);
	}

	/** Returns the settings of applications. Another sentinel does not exist. */
	public String[] properties(String prefix) {
		return new String[] { prefix + ".sentinel.master=main",
				prefix + ".sentinel.nodes=127.0.0.1:%d,127.0.0.1:%d".formatted(TestRedis.freePort(), this.port),
				prefix + ".sentinel.username=guard", prefix + ".sentinel.password=open", prefix + ".password=secret",
				prefix + ".database=2", prefix + ".client-name=app-1" };
	}

	/** Returns the connections of others to the sentinel. */
	public List<String> clients() {
		try (Jedis jedis = sentinel()) {
			return jedis.clientList().lines().filter((line) -> !line.contains(" cmd=client ")).toList();
		}
	}

	/** Waits until the replica is the master. */
	public void awaitSwitch() {
		try (Jedis jedis = sentinel()) {
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> jedis.sentinelGetMasterAddrByName("main")
					.equals(List.of("127.0.0.1", Integer.toString(this.replicaPort))));
		}
	}

	@Override
	public void close() {
		try {
			this.sentinel.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		TestRedis.stop(this.replica);
		TestRedis.stop(this.master);
	}

}
