package io.github.ratelimit.redis;

import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.redis.script.KeyNames;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Identifiers by where a cluster has them.
 */
final class ClusterKeys {

	private ClusterKeys() {
	}

	static int slot(Identifier identifier) {
		return JedisClusterCRC16.getSlot(new KeyNames("x").blocks(identifier));
	}

	private static Stream<Identifier> users() {
		return IntStream.iterate(0, (i) -> i + 1).mapToObj((i) -> Identifier.user("user" + i));
	}

	static Identifier inSlot(int slot) {
		return users().filter((user) -> slot(user) == slot).findFirst().orElseThrow();
	}

	/** Users that a master has, each on another slot. */
	static Stream<Identifier> of(TestCluster cluster, Node node) {
		return users().filter((user) -> cluster.master(slot(user)) == node);
	}

	static List<Identifier> onDifferentMasters(TestCluster cluster) {
		return cluster.nodes()
			.stream()
			.filter(Node::isMaster)
			.map((node) -> of(cluster, node).findFirst().orElseThrow())
			.toList();
	}

	/** What a cluster holds below a prefix, byte by byte. */
	static List<String> content(TestCluster cluster, String keyPrefix) {
		return cluster.nodes()
			.stream()
			.filter(Node::isMaster)
			.flatMap((node) -> node.admin().keys(keyPrefix + ":*").stream().map((key) -> key + " " + dump(node, key)))
			.sorted()
			.toList();
	}

	/** Also of a key that has arrived before its slot. */
	private static String dump(Node node, String key) {
		node.admin().asking();
		return Base64.getEncoder().encodeToString(node.admin().dump(key));
	}

}
