package io.github.ratelimit.spring.redis;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

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
 */
final class DataRedisServer {

	private final Supplier<@Nullable DataRedisConnectionDetails> details;

	/**
	 * Creates a server; the bean is looked up later.
	 * @param details returns the bean; fails if there are several
	 */
	DataRedisServer(Supplier<@Nullable DataRedisConnectionDetails> details) {
		this.details = details;
	}

	/** Returns the server; {@code null} if only properties name one. */
	@Nullable RedisServer find() {
		DataRedisConnectionDetails named = this.details.get();
		if (named == null || isOfProperties(named)) {
			return null;
		}
		if (named.getMasterReplica() != null) {
			throw unsupported("masterreplica.nodes", named.getMasterReplica().getNodes());
		}
		RedisSsl ssl = (named.getSslBundle() != null) ? new RedisSsl(named.getSslBundle()) : null;
		Sentinel sentinel = named.getSentinel();
		if (sentinel != null) {
			return new RedisServer(addresses(sentinel.getNodes()),
					new RedisSentinel(sentinel.getMaster(), sentinel.getUsername(), sentinel.getPassword()), false,
					named.getUsername(), named.getPassword(), sentinel.getDatabase(), ssl);
		}
		Cluster cluster = named.getCluster();
		if (cluster != null) {
			return RedisServer.ofCluster(addresses(cluster.getNodes()), named.getUsername(), named.getPassword(), ssl);
		}
		Standalone server = named.getStandalone();
		if (server == null) {
			throw new IllegalStateException(
					"Invalid DataRedisConnectionDetails (%s): must name a Redis server.".formatted(named));
		}
		return new RedisServer(new HostAndPort(server.getHost(), server.getPort()), named.getUsername(),
				named.getPassword(), server.getDatabase(), ssl);
	}

	/**
	 * Returns whether Spring Boot has created the bean from {@code spring.data.redis},
	 * with a class beside its public type, because there is no other. The properties are
	 * used instead, because it ignores whether a URL requires encryption.
	 */
	private static boolean isOfProperties(DataRedisConnectionDetails details) {
		return details.getClass().getPackage() == DataRedisConnectionDetails.class.getPackage();
	}

	private static List<HostAndPort> addresses(List<Node> nodes) {
		return nodes.stream().map((node) -> new HostAndPort(node.host(), node.port())).toList();
	}

	private static InvalidConfigurationPropertyValueException unsupported(String name, List<Node> nodes) {
		return new InvalidConfigurationPropertyValueException(RedisServer.SPRING + "." + name,
				nodes.stream().map((node) -> node.host() + ":" + node.port()).collect(Collectors.joining(",")),
				RedisServer.UNSUPPORTED);
	}

}
