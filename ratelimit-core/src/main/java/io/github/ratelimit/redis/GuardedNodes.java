package io.github.ratelimit.redis;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.StoreException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Tells apart what one node of a cluster does from what all do. A node that has failed
 * five times in a row is not asked for a second, so that nobody waits for it, as long as
 * another one answers. If none does, it is the store that fails, and all are asked.
 */
final class GuardedNodes implements NodeConnections {

	private final NodeConnections nodes;

	private final Map<HostAndPort, NodeState> states = new ConcurrentHashMap<>();

	/** Those that have slots: others answer although the cluster is down. */
	private volatile Set<HostAndPort> masters = Set.of();

	GuardedNodes(NodeConnections nodes) {
		this.nodes = nodes;
	}

	@Override
	public List<HostAndPort> nodes() {
		return this.nodes.nodes();
	}

	/**
	 * Takes a connection, which is closed after use. That there is none is noted.
	 * @throws JedisException if there is none, or the node is not asked
	 */
	@Override
	public Connection connect(HostAndPort node, String key) {
		Throwable reason = state(node).reasonNotToAsk();
		if (reason != null && othersAnswer(node)) {
			throw NodeException.notAsked(node, reason);
		}
		return open(node, key);
	}

	/** Whether a node is not to be asked, but by a probe. */
	boolean isAvoided(HostAndPort node) {
		return state(node).reasonNotToAsk() != null;
	}

	/**
	 * Takes a connection to look whether the node answers.
	 * @return {@code null} if it has failed too often, and was looked at lately
	 * @throws JedisException if there is none
	 */
	@Nullable Connection probe(HostAndPort node) {
		return state(node).mayProbe() ? open(node, "") : null;
	}

	private Connection open(HostAndPort node, String key) {
		try {
			return this.nodes.connect(node, key);
		}
		catch (RuntimeException ex) {
			throw failed(node, ex);
		}
	}

	/** A node has answered. */
	void answered(HostAndPort node) {
		state(node).answered();
	}

	/**
	 * A node has failed.
	 * @return the failure; a {@link NodeException} if it does not answer and others do
	 */
	RuntimeException failed(HostAndPort node, RuntimeException failure) {
		NodeState state = state(node);
		switch (RedisErrorKind.of(new StoreException("A node failed", failure))) {
			case CONNECTION -> {
				state.failed(failure);
				this.nodes.failed(node);
			}
			case TIMEOUT -> {
				if (TimeUsedUpException.isCauseOf(failure)) {
					state.unknown();
				}
				else {
					state.failed(failure);
					if (state.isTimeoutTooMany()) {
						this.nodes.failed(node);
					}
				}
			}
			case POOL_EXHAUSTED -> state.failed(failure);
			case INTERRUPTED, OTHER -> {
				state.unknown();
				return failure;
			}
			default -> {
				state.answered();
				return failure;
			}
		}
		return othersAnswer(node) ? NodeException.failed(node, failure) : failure;
	}

	private boolean othersAnswer(HostAndPort node) {
		return this.masters.stream().anyMatch((other) -> !other.equals(node) && state(other).answersLately());
	}

	private NodeState state(HostAndPort node) {
		return this.states.computeIfAbsent(node, (created) -> new NodeState());
	}

	@Override
	public void failed(HostAndPort node) {
		this.nodes.failed(node);
	}

	@Override
	public void retain(Set<HostAndPort> nodes) {
		this.masters = nodes;
		this.nodes.retain(nodes);
		List<HostAndPort> known = this.nodes.nodes();
		this.states.keySet().removeIf((node) -> !nodes.contains(node) && !known.contains(node));
	}

	@Override
	public void close() {
		this.nodes.close();
	}

}
