package io.github.ratelimit.redis;

import java.time.InstantSource;

import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.Answer;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import io.github.ratelimit.redis.script.template.Composer;
import io.github.ratelimit.test.TestRedis;

/**
 * Makes the single calls that a decision over several slots consists of.
 */
final class Reservations {

	private final Servers servers;

	private final Scripts scripts;

	Reservations(RedisConnections redis, String keyPrefix, InstantSource clock) {
		this.servers = redis.servers();
		this.scripts = new Scripts(new RedisKeys(keyPrefix), this.servers, clock, Composer::compose);
	}

	Answer reserve(RateLimitRequest request) {
		return ask(Operation.RESERVE, Scope.ALL, request);
	}

	Answer ask(Operation operation, Scope scope, RateLimitRequest request) {
		return answer(this.scripts.call(operation, scope, request, deadline()));
	}

	Answer cancel(RateLimitRequest request, Scope scope, long reservedAt) {
		return answer(this.scripts.cancel(request, scope, (charge) -> -1, reservedAt, deadline()));
	}

	private Answer answer(ScriptCall call) {
		this.servers.submit(call);
		return call.answer();
	}

	static long deadline() {
		return System.nanoTime() + TestRedis.PATIENCE.toNanos();
	}

}
