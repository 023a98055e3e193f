package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
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

	/** How many nodes are asked at a time: one of them may hang. */
	private static final int AT_ONCE = 2;

	private final GuardedNodes nodes;

	private volatile @Nullable Slots slots;

	/** The last time that it was read, or the present one. */
	private CompletableFuture<Void> reading = CompletableFuture.completedFuture(null);

	/** Done when the first node has answered that time, or none has. */
	private CompletableFuture<Void> known = this.reading;

	private long nextReading = System.nanoTime();

	Topology(GuardedNodes nodes) {
		this.nodes = nodes;
	}

	/**
	 * Returns the node that has a Redis key.
	 * @throws JedisException if that is not known
	 */
	HostAndPort node(String key) {
		Slots slots = this.slots;
		if (slots == null) {
			await(changed());
			slots = this.slots;
		}
		if (slots == null) {
			throw new JedisConnectionException(
					"None of the nodes %s has said which of them has which slot".formatted(this.nodes.nodes()));
		}
		HostAndPort node = slots.node(Slots.slot(key));
		if (node == null) {
			changed();
			throw NodeException.noneHas(Slots.slot(key));
		}
		return node;
	}

	/** A node has answered. */
	void answered(HostAndPort node) {
		this.nodes.answered(node);
	}

	/**
	 * A node has failed: a replica may have taken over.
	 * @return the failure, as it is to be passed on
	 */
	RuntimeException failed(HostAndPort node, RuntimeException failure) {
		changed();
		return this.nodes.failed(node, failure);
	}

	/**
	 * Something is different from what is known. It is read by threads of its own,
	 * because a decision may have no time left for that, or may not find a node that
	 * answers. They also look whether nodes that have failed too often answer again.
	 * @return done when it has been read, or could not be
	 */
	synchronized CompletableFuture<Void> changed() {
		if (this.reading.isDone() && System.nanoTime() - this.nextReading >= 0) {
			List<HostAndPort> nodes = new ArrayList<>(this.nodes.nodes());
			Collections.shuffle(nodes);
			Queue<HostAndPort> toAsk = new ConcurrentLinkedQueue<>(nodes);
			CompletableFuture<Void> known = new CompletableFuture<>();
			CompletableFuture<?>[] readers = new CompletableFuture<?>[AT_ONCE];
			for (int i = 0; i < AT_ONCE; i++) {
				readers[i] = CompletableFuture.runAsync(() -> read(toAsk, known), Topology::start);
			}
			this.known = known;
			this.reading = CompletableFuture.allOf(readers).whenComplete((nothing, failure) -> {
				pause();
				known.complete(null);
			});
		}
		return this.known;
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "ratelimit-cluster");
		thread.setDaemon(true);
		thread.start();
	}

	private synchronized void pause() {
		this.nextReading = System.nanoTime() + PAUSE_NANOS;
	}

	private void read(Queue<HostAndPort> nodes, CompletableFuture<Void> known) {
		for (HostAndPort node = nodes.poll(); node != null; node = nodes.poll()) {
			if (!known.isDone() || this.nodes.isAvoided(node)) {
				ask(node, known);
			}
		}
	}

	private void ask(HostAndPort node, CompletableFuture<Void> known) {
		try (Connection connection = this.nodes.probe(node)) {
			if (connection != null) {
				take(ask(node, connection), known);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The node {} does not say which node has which slot", node, ex);
		}
	}

	private Slots ask(HostAndPort node, Connection connection) {
		try {
			Slots slots = Slots.read(connection.executeCommand(new CommandArguments(Command.CLUSTER).add("SLOTS")),
					node);
			this.nodes.answered(node);
			return slots;
		}
		catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
			connection.setBroken();
			throw this.nodes.failed(node, UnreadableReplyException.of(ex));
		}
	}

	/** Takes in the first answer, unless the node knows of none that has slots. */
	private void take(Slots read, CompletableFuture<Void> known) {
		Set<HostAndPort> masters = read.nodes();
		synchronized (known) {
			if (!masters.isEmpty() && !known.isDone()) {
				this.slots = read;
				this.nodes.retain(masters);
				known.complete(null);
			}
		}
	}

	private static void await(CompletableFuture<Void> known) {
		try {
			known.get(Deadline.remaining(PATIENCE).toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new JedisException("Interrupted before any node has said which of them has which slot", ex);
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("It is not known yet which node has which slot", ex);
		}
	}

}
