package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import io.github.ratelimit.redis.script.template.Composer;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.StoreTest;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Errors that real servers answer with. None of them is an outage.
 */
@Timeout(120)
class RedisErrorKindIT extends StoreTest {

	private static final Policy POLICY = policy(new FixedWindow(), "100/3650d");

	/** What is done to the server, by whom it is asked, and how it was started. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', emptyValue = "",
			textBlock = """
					OOM        | CONFIG SET maxmemory 1                              | ''              | save ""
					READONLY   | REPLICAOF 127.0.0.1 1                               | ''              | save ""
					MASTERDOWN | REPLICAOF 127.0.0.1 1                               | ''              | replica-serve-stale-data no
					NOREPLICAS | CONFIG SET min-replicas-to-write 1                  | ''              | save ""
					NOAUTH     | CONFIG SET requirepass secret                       | ''              | save ""
					WRONGPASS  | CONFIG SET requirepass secret                       | :guess@         | save ""
					NOPERM     | ACL SETUSER limited on >secret ~* +@all -@scripting | limited:secret@ | save ""
					NOPERM     | ACL SETUSER limited on >secret ~other:* +@all       | limited:secret@ | save ""
					NOPERM     | ACL SETUSER limited on >secret ~* +@all -@write     | limited:secret@ | save ""
					""")
	void errorOfTheServerHasItsKind(RedisErrorKind kind, String command, String login, String setting) {
		try (OwnRedis server = new OwnRedis(setting)) {
			List<String> words = List.of(command.split(" "));
			server.jedis()
				.executeCommand(new CommandArguments(() -> words.get(0).getBytes(StandardCharsets.US_ASCII))
					.addObjects(words.subList(1, words.size())));
			try (RedisConnections redis = server.connect(login)) {
				assertThat(kind(redis)).isEqualTo(kind);
			}
		}
	}

	@Test
	void errorInABatchIsNoneOfTheOthers() {
		Identifier full = Identifier.user("full");
		try (OwnRedis server = new OwnRedis();
				DirectServers connection = DirectServers.of(server.uri());
				RedisConnections redis = server.connect("")) {
			Scripts scripts = new Scripts(new RedisKeys("batch"), connection, null, Composer::compose);
			List<ScriptCall> calls = Stream.of(full, ALICE, full, ADDRESS)
				.map((identifier) -> scripts.call(Operation.ACQUIRE, Scope.ALL, RateLimitRequest.of(POLICY, identifier),
						System.nanoTime() + TestRedis.PATIENCE.toNanos()))
				.toList();
			RedisRateLimiter.of(redis, "batch").tryAcquire(POLICY, full, 100);
			server.jedis().configSet("maxmemory", "1");
			connection.submit(calls);
			for (int i = 0; i < 4; i += 2) {
				assertThat(calls.get(i).answer().decision().allowed()).isFalse();
				assertThatExceptionOfType(JedisDataException.class).isThrownBy(calls.get(i + 1)::answer)
					.withMessageStartingWith("OOM ");
			}
		}
	}

	@Test
	void nodeOfAClusterNamesTheWayOut() {
		TestCluster cluster = TestCluster.shared();
		HostAndPort other = cluster.otherMasters(ClusterKeys.slot(ALICE)).get(0).address();
		try (RedisConnections redis = RedisConnections.server(other).timeBudget(Duration.ofSeconds(20)).build()) {
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> RedisRateLimiter.of(redis).tryAcquire(POLICY, ALICE))
				.satisfies((ex) -> assertThat(ex.reason()).contains("MOVED", "RedisConnections.cluster",
						"ratelimit.redis.cluster.nodes"))
				.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.ERROR_REPLY));
		}
	}

	@Test
	void serverThatRunsALongScriptIsBusy() {
		try (OwnRedis server = new OwnRedis("lua-time-limit 1");
				RedisConnections redis = server.connect("");
				Jedis admin = new Jedis("127.0.0.1", server.port())) {
			admin.ping();
			CompletableFuture<Object> script = CompletableFuture
				.supplyAsync(() -> server.jedis().eval("while true do end"));
			try {
				TestCluster.await("It is busy", () -> kind(redis) == RedisErrorKind.BUSY);
			}
			finally {
				admin.scriptKill();
			}
			assertThatExceptionOfType(CompletionException.class).isThrownBy(script::join)
				.withMessageContaining("Script killed");
		}
	}

	@Test
	void serverThatReadsItsDataIsLoading() {
		try (OwnRedis master = new OwnRedis("rdbcompression no", "repl-diskless-sync-delay 0");
				// A replica reads all of it, slowly.
				OwnRedis replica = new OwnRedis("key-load-delay 20000", "replica-read-only no");
				RedisConnections loading = replica.connect("")) {
			// It looks for requests every two megabytes.
			master.jedis().eval("for i = 1, 300 do redis.call('SET', 'key' .. i, string.rep('x', 100000)) end");
			try (Jedis admin = new Jedis("127.0.0.1", replica.port())) {
				admin.replicaof("127.0.0.1", master.port());
			}
			TestCluster.await("It is loading", () -> kind(loading) == RedisErrorKind.LOADING);
		}
	}

	/** As servers of other versions say it, and what only one of them says. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', value = {
			"OOM|OOM command not allowed when used memory > 'maxmemory'. script: 0f5b, on @user_script:1.",
			"OOM|ERR Error running script (call to f_0f5b): @user_script:7: @user_script: 7: -OOM "
					+ "command not allowed when used memory > 'maxmemory'.",
			"READONLY|READONLY You can't write against a read only replica. script: 0f5b, on " + "@user_script:1.",
			"MISCONF|MISCONF Errors writing to the AOF file: No space left on device",
			"MISCONF|MISCONF Redis is configured to save RDB snapshots, but is not able to persist on disk.",
			"CLUSTERDOWN|CLUSTERDOWN Hash slot not served", "NOAUTH|NOAUTH Authentication required.",
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
	}

	@Test
	void whatIsNotOfRedisIsOther() {
		assertThat(RedisErrorKind.of(new StoreException("failed", new IllegalStateException("OOM"))))
			.isEqualTo(RedisErrorKind.OTHER);
	}

	@ParameterizedTest
	@CsvSource({ "TIMEOUT,timeout", "OVERLOAD,overload", "NODE,node", "CONNECTION,connection", "OOM,oom",
			"WRONG_REPLY,wrong-reply" })
	void kindHasAText(RedisErrorKind kind, String text) {
		assertThat(kind.text()).isEqualTo(text);
	}

	@ParameterizedTest
	@EnumSource
	void fewKindsAreWithoutAnAnswer(RedisErrorKind kind) {
		assertThat(kind.isUnanswered())
			.isEqualTo(Set.of(RedisErrorKind.TIMEOUT, RedisErrorKind.NODE, RedisErrorKind.CONNECTION).contains(kind));
	}

	/**
	 * New connections are led to another. There is one, as a second may be in use when
	 * the first learns of the error.
	 */
	@ParameterizedTest
	@CsvSource({ "READONLY, false", "READONLY, true", "MASTERDOWN, false", "MASTERDOWN, true", "NOAUTH, false",
			"NOAUTH, true" })
	void oneDecisionIsRefusedWhenServerSaysItIsWrong(RedisErrorKind error, boolean borrowed) {
		try (FaultyProxy name = new FaultyProxy(TestRedis.uri());
				AnsweringServer wrong = new AnsweringServer("EVALSHA", "-%s of a test\r\n".formatted(error),
						() -> name.leadTo(TestRedis.uri()))) {
			name.leadTo(wrong.uri());
			try (UnifiedJedis client = JedisClients.create(name.uri());
					RedisConnections redis = (borrowed ? RedisConnections.client(client)
							: RedisConnections.server(new HostAndPort("127.0.0.1", name.uri().getPort())))
						.connections(1)
						.timeBudget(Duration.ofMinutes(1))
						.build()) {
				RateLimiter limiter = RedisRateLimiter.of(redis, TestRedis.newKeyPrefix());
				assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(POLICY, ALICE))
					.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(error));
				// The new master has got no counts of the former one.
				for (long left = 99; left >= 90; left--) {
					assertThat(limiter.tryAcquire(POLICY, ALICE).statuses()).singleElement()
						.hasFieldOrPropertyWithValue("remaining", left);
				}
			}
		}
	}

	private static @Nullable RedisErrorKind kind(RedisConnections redis) {
		try {
			RedisRateLimiter.of(redis).tryAcquire(POLICY, ALICE);
			return null;
		}
		catch (StoreException ex) {
			return RedisErrorKind.of(ex);
		}
	}

}
