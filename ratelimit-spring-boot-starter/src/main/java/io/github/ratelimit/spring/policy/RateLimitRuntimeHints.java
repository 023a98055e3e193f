package io.github.ratelimit.spring.policy;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * What a native image must keep although no code names it: the scripts, the texts of the
 * IP library's errors, and the generated classes of Caffeine, which it finds by names
 * that it makes of the settings of a cache.
 */
class RateLimitRuntimeHints implements RuntimeHintsRegistrar {

	/**
	 * Caffeine has no hints of its own. Those of the GraalVM metadata repository lack the
	 * entries of caches that have a largest size and nothing else (PSMS).
	 */
	private static final String CAFFEINE = "com.github.benmanes.caffeine.cache.";

	/**
	 * Of caches that have a largest size or weight, or expire after a write or an access
	 * as well.
	 */
	private static final List<String> CACHES = List.of("SSMS", "SSMW", "SSMSW", "SSMSA");

	/** Of their entries. */
	private static final List<String> NODES = List.of("PSMS", "PSMW", "PSWMS", "PSAMS");

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/github/ratelimit/algorithm/*.lua")
			.registerPattern("io/github/ratelimit/redis/script/*.lua")
			.registerResourceBundle("inet.ipaddr.IPAddressResources");
		hints.reflection()
			.registerType(TypeReference.of("redis.clients.jedis.UnifiedJedis"),
					(type) -> type.withField("provider").withField("executor"));
		CACHES.forEach((name) -> hints.reflection()
			.registerType(TypeReference.of(CAFFEINE + name), (type) -> type.withField("FACTORY")));
		NODES.forEach((name) -> hints.reflection()
			.registerType(TypeReference.of(CAFFEINE + name),
					(type) -> type.withConstructor(List.of(), ExecutableMode.INVOKE)));
	}

}
