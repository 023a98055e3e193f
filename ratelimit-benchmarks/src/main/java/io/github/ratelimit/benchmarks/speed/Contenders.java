package io.github.ratelimit.benchmarks.speed;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * All contenders, by their names in the tables. The first is the one that all others are
 * compared to.
 */
final class Contenders {

	static final String PING = "PING";

	static final String INCR = "INCR";

	static final String EVALSHA = "EVALSHA return 1";

	private static final Map<String, Function<URI, Contender>> ALL = new LinkedHashMap<>();

	static {
		ALL.putAll(RedisContenders.ALL);
		ALL.putAll(PeerContenders.ALL);
		ALL.putAll(OurContenders.all());
	}

	private Contenders() {
	}

	static List<String> names() {
		return List.copyOf(ALL.keySet());
	}

	/**
	 * Connects a contender.
	 * @param server its server, which must be empty
	 */
	static Contender create(String name, URI server) {
		Function<URI, Contender> factory = ALL.get(name);
		if (factory == null) {
			throw new IllegalArgumentException("Invalid contender (%s): must be one of %s.".formatted(name, names()));
		}
		return factory.apply(server);
	}

}
