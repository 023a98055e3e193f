package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Knows which node of a cluster has which Redis key. That is read in the background: the
 * first time, when a node says that it has changed, and when a connection fails, because
 * a replica may have taken over.
 */
final class Topology {

	private static final Logger logger = LoggerFactory.getLogger(Topology.class);

	/** How long the first answer is awaited by those who have no time budget. */
	private static final Duration PATIENCE = Duration.ofSeconds(2);

	/** How often it is read at most. */
	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final NodeConnections nodes;

	private volatile @Nullable Slots slots;

	/** The last time that it was read, or the present one. */
	private CompletableFuture<Void> reading = CompletableFuture.completedFuture(null);

	private long nextReading = System.nanoTime();

	Topology(NodeConnections nodes) {
		this.nodes = nodes;
	}

	/**
	 * Returns the node that has a Redis key.
	 * @throws JedisException if that is not known
	 */
	HostAndPort node(String key) {
		Slots known = this.slots;
		if (known == null) {
			await(changed());
			known = this.slots;
		}
		if (known == null) {
			throw new JedisConnectionException(
					"None of the nodes %s has said which of them has which slot".formatted(this.nodes.nodes()));
		}
		HostAndPort node = known.node(Slots.slot(key));
		if (node == null) {
			changed();
			throw new JedisConnectionException("No node of the cluster has the slot " + Slots.slot(key));
		}
		return node;
	}

	/** A connection to a node has failed. */
	void failed(HostAndPort node) {
		this.nodes.failed(node);
		changed();
	}

	/**
	 * Something is different from what is known. It is read by a thread of its own,
	 * because a decision may have no time left for that, or may not find a node that
	 * answers.
	 * @return done when it has been read, or could not be
	 */
	synchronized CompletableFuture<Void> changed() {
		if (this.reading.isDone() && System.nanoTime() - this.nextReading >= 0) {
			this.reading = CompletableFuture.runAsync(this::read, (task) -> {
				Thread thread = new Thread(task, "ratelimit-cluster");
				thread.setDaemon(true);
				thread.start();
			});
		}
		return this.reading;
	}

	private void read() {
		List<HostAndPort> nodes = new ArrayList<>(this.nodes.nodes());
		Collections.shuffle(nodes);
		for (HostAndPort node : nodes) {
			try {
				Slots read = ask(node);
				Set<HostAndPort> masters = read.nodes();
				if (!masters.isEmpty()) {
					this.slots = read;
					this.nodes.retain(masters);
					break;
				}
			}
			catch (JedisException ex) {
				logger.debug("The node {} does not say which node has which slot", node, ex);
			}
		}
		synchronized (this) {
			this.nextReading = System.nanoTime() + PAUSE_NANOS;
		}
	}

	private Slots ask(HostAndPort node) {
		try (Connection connection = this.nodes.connect(node, "")) {
			try {
				return Slots.read(connection.executeCommand(new CommandArguments(Command.CLUSTER).add("SLOTS")), node);
			}
			catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
				connection.setBroken();
				throw UnreadableReplyException.of(ex);
			}
		}
		catch (JedisConnectionException ex) {
			this.nodes.failed(node);
			throw ex;
		}
	}

	private static void await(CompletableFuture<Void> reading) {
		try {
			reading.get(Deadline.remaining(PATIENCE).toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("It is not known yet which node has which slot", ex);
		}
	}

}
