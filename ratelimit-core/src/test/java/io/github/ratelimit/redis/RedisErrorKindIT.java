package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Errors that real servers answer with. None of them is an outage.
 */
@Timeout(120)
class RedisErrorKindIT {

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), Limit.parse("5/d"));

	private static final RateLimitRequest REQUEST = RateLimitRequest.of(POLICY, Identifier.user("alice"));

	private final int port = TestRedis.freePort();

	private final List<RedisConnections> opened = new ArrayList<>();

	@Test
	void fullServerIsOom() {
		withServer((jedis) -> {
			jedis.configSet("maxmemory", "1");
			assertFails(RedisErrorKind.OOM, "");
		});
	}

	@Test
	void nodeOfAClusterNamesTheWayOut() {
		TestCluster cluster = TestCluster.shared();
		HostAndPort other = cluster.otherMasters(ClusterKeys.slot(Identifier.user("alice"))).get(0).address();
		try (RedisConnections redis = RedisConnections.server(other).timeBudget(Duration.ofSeconds(20)).build()) {
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> RedisRateLimiter.of(redis).tryAcquire(REQUEST))
				.satisfies((ex) -> assertThat(ex.reason()).contains("MOVED", "RedisConnections.cluster",
						"ratelimit.redis.cluster.nodes"))
				.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.ERROR_REPLY));
		}
	}

	@Test
	void replicaIsReadonly() {
		withServer((jedis) -> {
			send("REPLICAOF", "127.0.0.1", Integer.toString(TestRedis.freePort()));
			assertFails(RedisErrorKind.READONLY, "");
		});
	}

	@Test
	void replicaThatIsNotToBeReadIsMasterdown() {
		withServer((jedis) -> {
			send("REPLICAOF", "127.0.0.1", Integer.toString(TestRedis.freePort()));
			assertFails(RedisErrorKind.MASTERDOWN, "");
		}, "replica-serve-stale-data no");
	}

	@Test
	void serverWithoutItsReplicasIsNoreplicas() {
		withServer((jedis) -> {
			jedis.configSet("min-replicas-to-write", "1");
			assertFails(RedisErrorKind.NOREPLICAS, "");
		});
	}

	@Test
	void serverThatCannotSaveIsMisconf(@TempDir Path directory) {
		withServer((jedis) -> {
			// Where the file should be.
			assertThat(directory.resolve("dump.rdb").toFile().mkdir()).isTrue();
			jedis.set("key", "value");
			jedis.configSet("save", "3600 1");
			send("BGSAVE");
			await(() -> jedis.info("persistence").contains("rdb_last_bgsave_status:err"));
			try {
				assertFails(RedisErrorKind.MISCONF, "");
			}
			finally {
				// It would not stop without having saved.
				jedis.configSet("save", "");
			}
		}, "dir " + directory, "dbfilename dump.rdb");
	}

	@Test
	void serverThatRunsALongScriptIsBusy() {
		withServer((jedis) -> {
			jedis.configSet("lua-time-limit", "1");
			Thread script = inBackground("EVAL", "while true do end", "0");
			try (RedisConnections redis = connect("")) {
				await(() -> failsWith(RedisErrorKind.BUSY, redis));
			}
			finally {
				send("SCRIPT", "KILL");
				join(script);
			}
		});
	}

	@Test
	void serverThatReadsItsDataIsLoading(@TempDir Path directory) {
		withServer((jedis) -> {
			// It looks for requests every two megabytes.
			jedis.eval("for i = 1, 300 do redis.call('SET', 'key' .. i, string.rep('x', 100000)) end");
			// A replica reads all of it, slowly.
			int port = TestRedis.freePort();
			RedisServer replica = TestRedis.startServer(port, "key-load-delay 20000", "replica-read-only no",
					"dir " + directory);
			try (RedisConnections loading = TestRedis.connections(URI.create("redis://127.0.0.1:" + port)).build()) {
				send(port, "REPLICAOF", "127.0.0.1", String.valueOf(this.port));
				await(() -> failsWith(RedisErrorKind.LOADING, loading));
			}
			finally {
				TestRedis.stop(replica);
			}
		}, "rdbcompression no", "repl-diskless-sync-delay 0");
	}

	@Test
	void missingPasswordIsNoauthAndWrongOneWrongpass() {
		withServer((jedis) -> {
			send("CONFIG", "SET", "requirepass", "secret");
			assertFails(RedisErrorKind.NOAUTH, "");
			assertFails(RedisErrorKind.WRONGPASS, ":guess@");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "~* +@all -@scripting", "~other:* +@all", "~* +@all -@write" })
	void userWhoMayNotIsNoperm(String rules) {
		withServer((jedis) -> {
			send(("ACL SETUSER limited on >secret " + rules).split(" "));
			assertFails(RedisErrorKind.NOPERM, "limited:secret@");
		});
	}

	@Test
	void incompleteClusterIsClusterdown() {
		withServer((jedis) -> assertFails(RedisErrorKind.CLUSTERDOWN, ""), "cluster-enabled yes",
				"cluster-config-file nodes-" + this.port + "-test.conf", "dir " + System.getProperty("java.io.tmpdir"));
	}

	@Test
	void unknownCommandIsErrorReply() {
		withServer((jedis) -> assertFails(RedisErrorKind.ERROR_REPLY, ""), "rename-command EVALSHA \"\"");
	}

	/** As servers of other versions say it, and what only one of them says. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = {
			"OOM|OOM command not allowed when used memory > 'maxmemory'. script: 0f5b, on @user_script:1.",
			"OOM|ERR Error running script (call to f_0f5b): @user_script:7: @user_script: 7: -OOM "
					+ "command not allowed when used memory > 'maxmemory'.",
			"READONLY|READONLY You can't write against a read only replica. script: 0f5b, on " + "@user_script:1.",
			"MISCONF|MISCONF Errors writing to the AOF file: No space left on device",
			"NOAUTH|NOAUTH Authentication required.",
			"NOPERM|ERR ACL failure in script: User limited has no permissions to run the 'set' command",
			"NOPERM|ERR The user executing the script can't run this command or subcommand script: 0f5b",
			"NOSCRIPT|NOSCRIPT No matching script. Please use EVAL.",
			"WRONGTYPE|WRONGTYPE Operation against a key holding the wrong kind of value",
			"ERROR_REPLY|ERR unknown command 'EVALSHA', with args beginning with: OOM",
			"ERROR_REPLY|ERR Error running script (call to f_0f5b): @user_script:7: user_script:7: "
					+ "attempt to index a nil value" })
	void kindIsTheCodeOfTheError(RedisErrorKind kind, String message) {
		StoreException exception = new StoreException("failed", new JedisDataException(message));
		assertThat(RedisErrorKind.of(exception)).isEqualTo(kind);
		assertThat(kind.isUnanswered()).isFalse();
	}

	@Test
	void whatIsNotOfRedisIsOther() {
		assertThat(RedisErrorKind.of(new StoreException("failed", new IllegalStateException("OOM"))))
			.isEqualTo(RedisErrorKind.OTHER);
		assertThat(RedisErrorKind.OTHER.isUnanswered()).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "TIMEOUT,timeout,true", "OVERLOAD,overload,false", "NODE,node,true", "CONNECTION,connection,true",
			"OOM,oom,false", "WRONG_REPLY,wrong-reply,false" })
	void someKindsAreWithoutAnAnswer(RedisErrorKind kind, String text, boolean unanswered) {
		assertThat(kind.text()).isEqualTo(text);
		assertThat(kind.isUnanswered()).isEqualTo(unanswered);
	}

	private void withServer(Consumer<UnifiedJedis> test, String... settings) {
		RedisServer server = TestRedis.startServer(this.port, settings);
		try (UnifiedJedis jedis = JedisClients.create("127.0.0.1", this.port)) {
			test.accept(jedis);
		}
		finally {
			this.opened.forEach(RedisConnections::close);
			TestRedis.stop(server);
		}
	}

	private RedisConnections connect(String login) {
		URI uri = URI.create("redis://" + login + "127.0.0.1:" + this.port);
		RedisConnections redis = TestRedis.connections(uri).build();
		this.opened.add(redis);
		return redis;
	}

	private void send(String... command) {
		send(this.port, command);
	}

	private static void send(int port, String... command) {
		try (Jedis jedis = new Jedis("127.0.0.1", port, (int) Duration.ofMinutes(1).toMillis())) {
			jedis.sendCommand(() -> command[0].getBytes(StandardCharsets.US_ASCII),
					Arrays.copyOfRange(command, 1, command.length));
		}
		catch (JedisDataException ex) {
			// The script was killed, as it should be.
			assertThat(ex).hasMessageContaining("Script killed");
		}
	}

	private Thread inBackground(String... command) {
		Thread thread = new Thread(() -> send(command), "command");
		thread.start();
		return thread;
	}

	private static void join(Thread thread) {
		try {
			thread.join(Duration.ofMinutes(1).toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private interface Condition {

		boolean holds();

	}

	private static void await(Condition condition) {
		long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
		while (!condition.holds()) {
			assertThat(System.nanoTime()).as("time").isLessThan(end);
			Thread.onSpinWait();
		}
	}

	private static boolean failsWith(RedisErrorKind kind, RedisConnections redis) {
		try {
			RedisRateLimiter.of(redis).tryAcquire(REQUEST);
			return false;
		}
		catch (StoreException ex) {
			assertThat(RedisErrorKind.of(ex)).as(String.valueOf(ex.getCause())).isEqualTo(kind);
			return true;
		}
	}

	private void assertFails(RedisErrorKind kind, String login) {
		assertFails(kind, connect(login));
	}

	private static void assertFails(RedisErrorKind kind, RedisConnections redis) {
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> RedisRateLimiter.of(redis).tryAcquire(REQUEST))
			.satisfies((ex) -> {
				assertThat(RedisErrorKind.of(ex)).as(String.valueOf(ex.getCause())).isEqualTo(kind);
				assertThat(RedisErrorKind.of(ex).isUnanswered()).isFalse();
			});
	}

}
