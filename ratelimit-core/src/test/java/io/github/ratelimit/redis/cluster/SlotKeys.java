package io.github.ratelimit.redis.cluster;

import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Redis keys by where a cluster has them. No two of them are the same.
 */
final class SlotKeys {

	private SlotKeys() {
	}

	/** Any Redis keys. */
	static Stream<String> any() {
		String prefix = TestRedis.newKeyPrefix();
		return Stream.iterate(0, (i) -> i + 1).map((i) -> prefix + ":{" + i + "}");
	}

	/** Redis keys that a master has. */
	static Stream<String> of(TestCluster cluster, Node node) {
		return any().filter((key) -> cluster.master(slot(key)) == node);
	}

	/** A Redis key on each master. */
	static List<String> onDifferentMasters(TestCluster cluster) {
		TreeMap<String, String> byMaster = new TreeMap<>();
		any().takeWhile((key) -> byMaster.size() < 3)
			.forEach((key) -> byMaster.putIfAbsent(cluster.master(slot(key)).address().toString(), key));
		return List.copyOf(byMaster.values());
	}

	static int slot(String key) {
		return JedisClusterCRC16.getSlot(key);
	}

	/** What a cluster has for a Redis key; 0 without one. */
	static long number(TestCluster cluster, String key) {
		String number = cluster.master(slot(key)).admin().get(key);
		return (number != null) ? Long.parseLong(number) : 0;
	}

}
