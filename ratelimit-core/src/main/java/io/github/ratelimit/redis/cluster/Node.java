package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.ConnectionSource;
import io.github.ratelimit.redis.connection.Listener;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.Server;
import io.github.ratelimit.redis.connection.ServerSettings;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisClusterException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * One node of a cluster. Redirects calls, and tells its failure from an outage of all.
 */
final class Node implements Listener {

	/** Most redirections of a call. Nodes that disagree may redirect it for ever. */
	private static final int MAX_REDIRECTIONS = 8;

	final HostAndPort address;

	private final ClusterServers cluster;

	final Server server;

	Node(HostAndPort address, ClusterServers cluster, ServerSettings settings, ConnectionSource source) {
		this.address = address;
		this.cluster = cluster;
		this.server = new Server(settings.withName(address.toString()), source, this);
	}

	@Override
	public void redirected(List<Call> calls, JedisRedirectionException redirection) {
		HostAndPort target = redirection.getTargetNode();
		boolean asking = redirection instanceof JedisAskDataException;
		if (!asking) {
			this.cluster.topology.refresh();
		}
		calls.stream().filter(Call::takeBack).forEach((call) -> {
			if (call.countRedirection() > MAX_REDIRECTIONS) {
				call.fail(
						notSent("The nodes of the cluster do not agree on which of them has the slot " + call.slot()));
			}
			else {
				this.cluster.submit(Slots.address(target.getHost(), target.getPort(), this.address), call, asking);
			}
		});
	}

	@Override
	public JedisException explain(JedisException failure) {
		boolean outage = isOutage(failure);
		if (outage || failure instanceof JedisClusterException) {
			this.cluster.topology.refresh();
		}
		return (outage && this.cluster.anyAnswers(this.address))
				? new CallException(Reason.NODE, "The node %s does not answer".formatted(this.address), failure)
				: failure;
	}

	private static boolean isOutage(JedisException failure) {
		return (failure instanceof CallException call)
				? call.reason() == Reason.OUTAGE || call.reason() == Reason.SILENCE
				: failure instanceof JedisConnectionException;
	}

	static CallException notSent(String message) {
		return new CallException(Reason.NODE, message, new CallException(Reason.OUTAGE, message, null));
	}

	@Override
	public void opened(JedisException cause) {
		this.cluster.changed(cause);
	}

	@Override
	public void closed(Duration duration) {
		this.cluster.changed(null);
	}

	/** A replica may have taken over. */
	@Override
	public void left() {
		this.cluster.topology.refresh();
	}

	@Override
	public void overloaded() {
		this.cluster.listener.overloaded();
	}

	@Override
	public void batch(int calls, long nanos) {
		this.cluster.listener.batch(calls, nanos);
	}

}
