package io.github.ratelimit.redis;

import java.io.Serial;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * One node of a cluster does not answer, or is not there, while another one is. Without a
 * stack trace, because there may be many; the cause has one.
 */
final class NodeException extends JedisConnectionException {

	@Serial
	private static final long serialVersionUID = 1L;

	private NodeException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	static NodeException failed(HostAndPort node, Throwable cause) {
		return new NodeException("The node %s does not answer".formatted(node), cause);
	}

	static NodeException notAsked(HostAndPort node, Throwable cause) {
		return new NodeException("The node %s is not asked because it does not answer".formatted(node), cause);
	}

	static NodeException noneHas(int slot) {
		return new NodeException("No node of the cluster has the slot " + slot, null);
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
