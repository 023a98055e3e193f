package io.github.ratelimit.spring.redis;

import java.util.List;
import java.util.function.Supplier;

import io.github.ratelimit.spring.config.RedisProperties;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Cluster;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Sentinel;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;

/**
 * The server of a {@link DataRedisConnectionDetails} bean: from a container in a test,
 * from Docker Compose, or defined by the application.
 *
 * @param details returns the bean; fails if there are several
 */
record DataRedisServer(Supplier<@Nullable DataRedisConnectionDetails> details) {

	/** Returns the server; {@code null} if only properties name one. */
	@Nullable RedisServer find() {
		DataRedisConnectionDetails named = this.details.get();
		// Spring Boot's own class, beside the public type, only reads the properties, and
		// ignores that a URL requires encryption.
		if (named == null || named.getClass().getPackage() == DataRedisConnectionDetails.class.getPackage()) {
			return null;
		}
		Sentinel sentinel = named.getSentinel();
		if (sentinel != null) {
			return new RedisServer(addresses(sentinel.getNodes()),
					new RedisProperties.Sentinel(sentinel.getMaster(), List.of(), sentinel.getUsername(),
							sentinel.getPassword(), null),
					false, named.getUsername(), named.getPassword(), sentinel.getDatabase(), named.getSslBundle(), null,
					ServerReader.SPRING + ".sentinel.nodes", null);
		}
		Cluster cluster = named.getCluster();
		if (cluster != null) {
			return new RedisServer(addresses(cluster.getNodes()), null, true, named.getUsername(), named.getPassword(),
					0, named.getSslBundle(), null, ServerReader.SPRING + ".cluster.nodes", null);
		}
		Standalone server = named.getStandalone();
		if (server == null || named.getMasterReplica() != null) {
			throw new InvalidConfigurationPropertyValueException("spring.data.redis.masterreplica.nodes",
					(named.getMasterReplica() != null) ? addresses(named.getMasterReplica().getNodes()) : "***",
					ServerReader.UNSUPPORTED);
		}
		return new RedisServer(new HostAndPort(server.getHost(), server.getPort()), named.getUsername(),
				named.getPassword(), server.getDatabase(), named.getSslBundle(), null, ServerReader.SPRING + ".host");
	}

	private static List<HostAndPort> addresses(List<Node> nodes) {
		return nodes.stream().map((node) -> new HostAndPort(node.host(), node.port())).toList();
	}

}
