package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.ConnectionSource;
import io.github.ratelimit.redis.connection.Listener;
import io.github.ratelimit.redis.connection.NoAnswerException;
import io.github.ratelimit.redis.connection.NotSentException;
import io.github.ratelimit.redis.connection.NotSentException.Reason;
import io.github.ratelimit.redis.connection.Redirections;
import io.github.ratelimit.redis.connection.Server;
import io.github.ratelimit.redis.connection.ServerSettings;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisClusterException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * One node of a cluster. Tells the others what its answers and failures mean for them.
 */
final class Node implements Listener, Redirections {

	/** How often a call is sent on: nodes that disagree may send it to and fro. */
	private static final int MAX_HOPS = 8;

	private final HostAndPort address;

	private final Nodes nodes;

	private final Server server;

	private final UnaryOperator<JedisException> explanation = this::explain;

	/** Connects to nothing yet. */
	Node(HostAndPort address, Nodes nodes, ServerSettings settings, ConnectionSource source) {
		this.address = address;
		this.nodes = nodes;
		this.server = new Server(settings.withName(address.toString()), source, this, this);
	}

	HostAndPort address() {
		return this.address;
	}

	boolean isOpen() {
		return this.server.isOpen();
	}

	/**
	 * Hands a call over.
	 * @param asks whether the slot of the call is moving here
	 */
	void submit(Call call, boolean asks) {
		call.explainBy(this.explanation);
		if (asks) {
			this.server.submitAsking(call);
		}
		else {
			this.server.submit(call);
		}
	}

	@Override
	public void redirect(List<Call> calls, JedisRedirectionException redirection) {
		HostAndPort target = redirection.getTargetNode();
		boolean asks = redirection instanceof JedisAskDataException;
		if (!asks) {
			this.nodes.changed();
		}
		for (Call call : calls) {
			if (!call.takeBack()) {
				continue;
			}
			if (call.countRedirection() > MAX_HOPS) {
				call.fail(NodeException.noneAccepts(call.slot()));
			}
			else {
				this.nodes.submit(Slots.address(target.getHost(), target.getPort(), this.address), call, asks);
			}
		}
	}

	/** Tells a failure of this node from an outage of all. */
	private JedisException explain(JedisException failure) {
		if (failure instanceof JedisClusterException) {
			this.nodes.changed();
			return failure;
		}
		if (failure instanceof NodeException || !isOutage(failure)) {
			return failure;
		}
		this.nodes.changed();
		return this.nodes.othersAnswer(this) ? NodeException.failed(this.address, failure) : failure;
	}

	private static boolean isOutage(JedisException failure) {
		if (failure instanceof NotSentException notSent) {
			return notSent.reason() == Reason.OUTAGE;
		}
		return failure instanceof JedisConnectionException
				|| failure instanceof NoAnswerException && failure.getCause() != null;
	}

	@Override
	public void opened(JedisException cause) {
		this.nodes.opened(cause);
	}

	@Override
	public void closed(Duration duration) {
		this.nodes.closed();
	}

	@Override
	public void overloaded() {
		this.nodes.listener().overloaded();
	}

	@Override
	public void batch(int calls, long nanos) {
		this.nodes.listener().batch(calls, nanos);
	}

	void close() {
		this.server.close();
	}

}
