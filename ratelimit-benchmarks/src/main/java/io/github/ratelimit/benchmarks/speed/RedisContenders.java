package io.github.ratelimit.benchmarks.speed;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

import io.github.ratelimit.benchmarks.HandwrittenScript;
import io.github.ratelimit.benchmarks.MeasuredRedis;
import redis.clients.jedis.UnifiedJedis;

/**
 * Commands and handwritten scripts, sent through a connection pool of Jedis.
 */
final class RedisContenders {

	static final Map<String, Function<URI, Contender>> ALL = new LinkedHashMap<>();

	/** Never used up. */
	private static final long QUOTA = 1_000_000;

	private static final long MINUTE = 60_000_000;

	static {
		ALL.put(Contenders.PING, connected((jedis) -> (user) -> jedis.ping().equals("PONG")));
		ALL.put(Contenders.INCR, connected((jedis) -> (user) -> jedis.incr(key("incr", user)) > 0));
		ALL.put(Contenders.EVALSHA, connected(RedisContenders::returnOne));
		ALL.put("by hand, fixed window", script("fixed-window", QUOTA));
		ALL.put("by hand, GCRA", script("leaky-bucket", QUOTA));
		ALL.put("by hand, log 100/m", script("sliding-log", 100));
		ALL.put("Gateway's algorithm", connected(RedisContenders::gateway));
	}

	private RedisContenders() {
	}

	private static Function<URI, Contender> connected(Function<UnifiedJedis, Predicate<String>> contender) {
		return (server) -> {
			UnifiedJedis jedis = MeasuredRedis.connect(server);
			return Contender.of(contender.apply(jedis), jedis::close);
		};
	}

	private static Predicate<String> returnOne(UnifiedJedis jedis) {
		String sha1 = jedis.scriptLoad("return 1");
		return (user) -> jedis.evalsha(sha1, List.of(key("evalsha", user)), List.of()).equals(1L);
	}

	private static Function<URI, Contender> script(String algorithm, long quota) {
		return connected((jedis) -> {
			HandwrittenScript script = HandwrittenScript.of(algorithm, jedis);
			return (user) -> script.run(user, quota, MINUTE);
		});
	}

	private static Predicate<String> gateway(UnifiedJedis jedis) {
		String sha1 = jedis.scriptLoad(HandwrittenScript.read("gateway.lua"));
		List<String> arguments = List.of(Long.toString(QUOTA / 60), Long.toString(QUOTA), "1");
		return (user) -> {
			String key = MeasuredRedis.KEY_PREFIX + ":{" + user + "}";
			List<?> reply = (List<?>) jedis.evalsha(sha1, List.of(key + ".tokens", key + ".timestamp"), arguments);
			return reply.get(0).equals(1L);
		};
	}

	private static String key(String name, String user) {
		return MeasuredRedis.KEY_PREFIX + ":" + name + ":" + user;
	}

}
