package io.github.ratelimit.spring.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * What a native image must keep although no code names it: the scripts, and the texts of
 * the IP library's errors.
 */
class RateLimitRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/github/ratelimit/algorithm/*.lua")
			.registerPattern("io/github/ratelimit/redis/*.lua")
			.registerResourceBundle("inet.ipaddr.IPAddressResources");
	}

}
