package io.github.ratelimit.redis;

import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.KeyNames;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests that wait while the server hangs, and are sent together when it goes on.
 */
@SuppressWarnings("try")
class SharedBatchIT {

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), new Limit(2, Limit.MAX_WINDOW));

	private static final Identifier FULL = Identifier.user("full");

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Identifier BOB = Identifier.user("bob");

	private final OwnRedis server = new OwnRedis();

	private final UnifiedJedis jedis = this.server.jedis();

	private final RedisConnections redis = TestRedis.connections(this.server.uri()).connections(1).build();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(this.redis);

	private final Servers servers = this.redis.servers();

	private final Reservations scripts = new Reservations(this.redis, RedisRateLimiter.DEFAULT_KEY_PREFIX, null);

	@AfterEach
	void stop() {
		this.redis.close();
		this.server.close();
	}

	@Test
	void errorOfOneRequestIsNoneOfTheOthers() {
		this.limiter.tryAcquire(POLICY, FULL, 2);
		this.jedis.configSet("maxmemory", "1");
		List<ScriptCall> calls = together(FULL, ALICE, FULL, BOB);
		assertDenied(calls.get(0));
		assertFull(calls.get(1));
		assertDenied(calls.get(2));
		assertFull(calls.get(3));
		this.jedis.configSet("maxmemory", "0");
		assertThat(used(ALICE)).isZero();
		assertThat(used(FULL)).isEqualTo(2);
	}

	private static void assertDenied(ScriptCall call) {
		Decision answer = call.answer().decision();
		assertThat(answer.allowed()).isFalse();
		assertThat(answer.statuses()).singleElement().satisfies((status) -> assertThat(status.remaining()).isZero());
	}

	private static void assertFull(ScriptCall call) {
		assertThatExceptionOfType(JedisDataException.class).isThrownBy(call::answer).withMessageStartingWith("OOM ");
	}

	@Test
	void damagedStateOfOneRequestIsNoneOfTheOthers() {
		this.limiter.tryAcquire(POLICY, FULL, 2);
		KeyNames names = new KeyNames(RedisRateLimiter.DEFAULT_KEY_PREFIX);
		this.jedis.lpush(names.key(ALICE, POLICY), "of another type");
		this.jedis.set(names.key(BOB, POLICY), "?");
		List<ScriptCall> calls = together(FULL, ALICE, BOB, ALICE, FULL);
		assertDenied(calls.get(0));
		assertThat(calls.subList(1, 4)).extracting((call) -> call.answer().decision().statuses().get(0).remaining())
			.containsExactly(1L, 1L, 0L);
		assertDenied(calls.get(4));
	}

	/** The first one is on its way while the others gather. */
	private List<ScriptCall> together(Identifier... identifiers) {
		ScriptCall first = call(FULL);
		List<ScriptCall> calls = Stream.of(identifiers).map(this::call).toList();
		try (StoppedServer stopped = StoppedServer.stop(this.jedis)) {
			this.servers.submit(first);
			calls.forEach(this.servers::submit);
		}
		assertDenied(first);
		return calls;
	}

	private ScriptCall call(Identifier identifier) {
		return this.scripts.call(Operation.ACQUIRE, Scope.ALL, RateLimitRequest.of(POLICY, identifier));
	}

	private long used(Identifier identifier) {
		return 2 - this.limiter.peek(RateLimitRequest.of(POLICY, identifier)).statuses().get(0).remaining();
	}

}
