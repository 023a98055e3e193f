package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisClusterException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * What one node is asked in one round trip.
 */
final class NodeTrip {

	private static final Logger logger = LoggerFactory.getLogger(NodeTrip.class);

	private final HostAndPort node;

	private final Topology topology;

	private final List<Journey> journeys = new ArrayList<>();

	private @Nullable Connection connection;

	/** Whether something may have left. */
	private boolean sent;

	/** How many answers there were. */
	private int answered;

	private @Nullable JedisException failure;

	NodeTrip(HostAndPort node, Topology topology) {
		this.node = node;
		this.topology = topology;
	}

	void add(Journey journey) {
		this.journeys.add(journey);
	}

	/**
	 * Connects, and sends nothing.
	 * @throws JedisException if there is no connection
	 */
	void connect(NodeConnections nodes) {
		try {
			this.connection = nodes.connect(this.node, this.journeys.get(0).call().key());
		}
		catch (JedisConnectionException ex) {
			this.topology.changed();
			throw ex;
		}
	}

	/** Sends everything, and waits for nothing. */
	void send() {
		Connection connection = connection();
		this.sent = true;
		try {
			for (Journey journey : this.journeys) {
				if (journey.asks()) {
					connection.sendCommand(Command.ASKING);
				}
				connection.sendCommand(journey.call().command().getArguments());
			}
			// None of the answers, but everything leaves.
			connection.getMany(0);
		}
		catch (JedisException ex) {
			fail(ex);
		}
	}

	/**
	 * Takes in the answers.
	 * @param further where calls are put that have to travel on
	 * @param earlier the failure of another node, which may have used up the time that
	 * there is for all; {@code null} if none has failed
	 */
	void receive(List<Journey> further, @Nullable JedisException earlier) {
		Connection connection = connection();
		while (this.answered < this.journeys.size()) {
			Journey journey = this.journeys.get(this.answered);
			List<Object> replies;
			try {
				replies = connection.getMany(journey.asks() ? 2 : 1);
			}
			catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
				if (earlier != null && RedisErrorKind.isTimeout(ex)) {
					giveUp(earlier);
				}
				else {
					fail(ex);
				}
				return;
			}
			this.answered++;
			this.topology.answered(this.node);
			take(journey, replies, further);
		}
	}

	/** Why the connection has failed; {@code null} if it has not. */
	@Nullable JedisException failure() {
		return this.failure;
	}

	private void take(Journey journey, List<Object> replies, List<Journey> further) {
		Call call = journey.call();
		JedisDataException error = null;
		for (Object reply : replies) {
			if (error == null && reply instanceof JedisDataException ex) {
				error = ex;
			}
		}
		if (error == null) {
			build(call, replies.get(replies.size() - 1));
		}
		else if (error instanceof JedisRedirectionException redirection) {
			if (error instanceof JedisMovedDataException) {
				this.topology.changed();
			}
			further.add(new Journey(call, target(redirection), error instanceof JedisAskDataException));
		}
		else if (error instanceof JedisNoScriptException && call.useWhole()) {
			further.add(journey);
		}
		else {
			if (error instanceof JedisClusterException) {
				this.topology.changed();
			}
			call.fail(error);
		}
	}

	private static void build(Call call, @Nullable Object reply) {
		try {
			call.answered(call.command().getBuilder().build(reply));
		}
		catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
			call.fail(ex);
		}
	}

	private HostAndPort target(JedisRedirectionException redirection) {
		HostAndPort target = redirection.getTargetNode();
		return Slots.address(target.getHost(), target.getPort(), this.node);
	}

	private void fail(Throwable failure) {
		giveUp(UnreadableReplyException.of(this.topology.failed(this.node, UnreadableReplyException.of(failure))));
	}

	/** All calls without an answer, for none of them is known to be done or not. */
	private void giveUp(JedisException reason) {
		this.failure = reason;
		connection().setBroken();
		this.journeys.subList(this.answered, this.journeys.size()).forEach((journey) -> journey.call().fail(reason));
		this.answered = this.journeys.size();
	}

	private Connection connection() {
		if (this.connection == null) {
			throw new IllegalStateException("Not connected");
		}
		return this.connection;
	}

	/**
	 * Returns the connection, which is not used again if an answer may still come. That
	 * this fails is not passed on: there are other nodes, and what they have done.
	 */
	void end() {
		if (this.connection == null) {
			return;
		}
		try {
			if (this.sent && this.answered < this.journeys.size()) {
				this.connection.setBroken();
			}
			this.connection.close();
		}
		catch (RuntimeException ex) {
			logger.debug("A connection to the node {} could not be returned", this.node, ex);
		}
	}

}
