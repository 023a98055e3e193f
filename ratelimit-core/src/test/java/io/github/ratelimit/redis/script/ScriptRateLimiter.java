package io.github.ratelimit.redis.script;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.redis.connection.OneConnection;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.redis.script.template.Composer;
import org.jspecify.annotations.Nullable;

/**
 * Calls scripts one by one.
 */
public final class ScriptRateLimiter implements RateLimiter, BlockList, RequestHistory {

	private final OneConnection servers;

	private final RedisKeys keys;

	private final Scripts scripts;

	private final Blocks blocks;

	public ScriptRateLimiter(OneConnection servers, String prefix, InstantSource clock) {
		this.servers = servers;
		this.keys = new RedisKeys(prefix);
		this.scripts = new Scripts(this.keys, servers, clock, Composer::compose);
		this.blocks = new Blocks(this.keys, servers, clock);
	}

	private Answer ask(Operation operation, RateLimitRequest request) {
		ScriptCall call = this.scripts.call(operation, Scope.ALL, request, deadline());
		this.servers.submit(call);
		return call.answer();
	}

	static long deadline() {
		return System.nanoTime() + 60_000_000_000L;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return ask(Operation.ACQUIRE, request).penalized();
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return ask(Operation.PEEK, request).decision();
	}

	@Override
	public void refund(RateLimitRequest request) {
		ask(Operation.REFUND, request);
	}

	@Override
	public void charge(RateLimitRequest request) {
		ask(Operation.CHARGE, request.withPossibleCosts());
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		TestRedis.client().del(this.keys.key(identifier, policy));
	}

	@Override
	public List<LogEntry> entries(Policy policy, Identifier identifier, int most, @Nullable Instant before) {
		ScriptCall call = this.scripts.history(policy, identifier, most, before, deadline());
		this.servers.submit(call);
		return call.entries();
	}

	@Override
	public List<WindowCount> series(Policy policy, Identifier identifier) {
		ScriptCall call = this.scripts.history(policy, identifier, Integer.MAX_VALUE, null, deadline());
		this.servers.submit(call);
		return call.series();
	}

	@Override
	public Block block(Identifier identifier, @Nullable String policy, Duration time, String reason) {
		return this.blocks.block(identifier, policy, time, reason, deadline());
	}

	@Override
	public void pause(Identifier identifier, String policy, Duration time) {
		this.blocks.pause(identifier, policy, time, deadline());
	}

	@Override
	public boolean unblock(Identifier identifier, @Nullable String policy) {
		return this.blocks.unblock(identifier, policy, deadline());
	}

	@Override
	public List<Block> blocks() {
		return this.blocks.list(deadline());
	}

}
