package io.github.ratelimit.spring.policy;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * Hints for native images: the scripts, the error messages of the IP library, and the
 * generated classes of Caffeine, which it looks up by names composed of the settings of a
 * cache.
 */
class RateLimitRuntimeHints implements RuntimeHintsRegistrar {

	/**
	 * Caffeine itself has no hints. Those of the GraalVM metadata repository lack the
	 * nodes of caches that have only a maximum size (PSMS).
	 */
	private static final String CAFFEINE = "com.github.benmanes.caffeine.cache.";

	/**
	 * Classes of caches with a maximum size or weight, or that also expire after a write
	 * or an access.
	 */
	private static final List<String> CACHES = List.of("SSMS", "SSMW", "SSMSW", "SSMSA");

	/** Classes of their nodes. */
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
