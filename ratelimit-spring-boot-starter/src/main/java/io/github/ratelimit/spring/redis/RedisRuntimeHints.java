package io.github.ratelimit.spring.redis;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * Hints for native images: the scripts, and the fields that are read from a Jedis client
 * of the application.
 */
class RedisRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/github/ratelimit/algorithm/*.lua")
			.registerPattern("io/github/ratelimit/redis/script/*.lua")
			.registerPattern("io/github/ratelimit/redis/script/template/*.lua");
		hints.reflection()
			.registerType(TypeReference.of("redis.clients.jedis.UnifiedJedis"),
					(type) -> type.withField("provider").withField("executor"));
	}

}
