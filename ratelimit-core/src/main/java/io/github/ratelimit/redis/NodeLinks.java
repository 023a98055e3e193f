package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The connections of one decision to the nodes of a cluster: one to each, in the order in
 * which everybody takes them. Whoever holds one and waits for a second one of the same
 * pool may wait for others who do the same.
 */
final class NodeLinks {

	private final NodeConnections nodes;

	private final Topology topology;

	private final Map<HostAndPort, NodePipeline> pipelines = new HashMap<>();

	private NodeLinks(NodeConnections nodes, Topology topology) {
		this.nodes = nodes;
		this.topology = topology;
	}

	/**
	 * Connects to where Redis keys are.
	 * @return a way to each of them, in their order
	 * @throws JedisException if one of them cannot be reached; then nothing stays
	 * connected
	 */
	static List<Link> connect(NodeConnections nodes, Topology topology, List<String> keys) {
		NodeLinks links = new NodeLinks(nodes, topology);
		List<HostAndPort> places = keys.stream().map(topology::node).toList();
		Map<HostAndPort, String> once = new TreeMap<>(Cluster.ORDER);
		for (int i = 0; i < keys.size(); i++) {
			once.putIfAbsent(places.get(i), keys.get(i));
		}
		try {
			once.forEach(links::connect);
		}
		catch (RuntimeException ex) {
			links.pipelines.values().forEach(NodePipeline::close);
			throw ex;
		}
		List<Link> all = new ArrayList<>();
		for (int i = 0; i < keys.size(); i++) {
			all.add(new NodeLink(links, keys.get(i), links.join(places.get(i), keys.get(i))));
		}
		return all;
	}

	private NodePipeline connect(HostAndPort node, String key) {
		try {
			NodePipeline pipeline = new NodePipeline(node, this.nodes.connect(node, key), this.topology);
			this.pipelines.put(node, pipeline);
			return pipeline;
		}
		catch (JedisConnectionException ex) {
			this.topology.changed();
			throw ex;
		}
	}

	/**
	 * Shares the connection to a node, or makes one.
	 * @param key a Redis key that is asked for there
	 * @throws JedisException if there is none
	 */
	NodePipeline join(HostAndPort node, String key) {
		NodePipeline pipeline = this.pipelines.get(node);
		return ((pipeline != null) ? pipeline : connect(node, key)).join();
	}

	/** Returns a connection if no slot needs it any more. */
	void leave(NodePipeline pipeline) {
		if (pipeline.leave()) {
			this.pipelines.remove(pipeline.node());
			Link.giveBack(pipeline, pipeline.isWatching());
		}
	}

	/** Slots are elsewhere than is known. */
	void changed() {
		this.topology.changed();
	}

}
