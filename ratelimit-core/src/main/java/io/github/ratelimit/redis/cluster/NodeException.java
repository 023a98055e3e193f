package io.github.ratelimit.redis.cluster;

import java.io.Serial;

import io.github.ratelimit.redis.connection.NotSentException;
import io.github.ratelimit.redis.connection.NotSentException.Reason;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One node of a cluster does not answer, or is not there, while another one answers: it
 * is no outage of the cluster. The cause tells whether the call was sent. Without a stack
 * trace, because there may be many.
 */
public final class NodeException extends JedisConnectionException {

	@Serial
	private static final long serialVersionUID = 1L;

	private NodeException(String message, JedisException cause) {
		super(message, cause);
	}

	static NodeException failed(HostAndPort node, JedisException cause) {
		return new NodeException("The node %s does not answer".formatted(node), cause);
	}

	static NodeException noneHas(int slot) {
		return notSent("No node of the cluster has the slot " + slot);
	}

	static NodeException noneAccepts(int slot) {
		return notSent("The nodes of the cluster do not agree on which of them has the slot " + slot);
	}

	private static NodeException notSent(String message) {
		return new NodeException(message, new NotSentException(Reason.OUTAGE, message, null));
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
