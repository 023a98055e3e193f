package io.github.ratelimit.redis.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.ratelimit.redis.connection.BackgroundThread;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.NoAnswerException;
import io.github.ratelimit.redis.connection.NotSentException;
import io.github.ratelimit.redis.connection.NotSentException.Reason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Knows which node of a cluster has which slot. That is read in the background: for the
 * first call, when a node says that it has changed, and while a node does not answer,
 * because a replica may have taken over. Calls that come before it is known wait here.
 */
final class Topology {

	private static final Logger logger = LoggerFactory.getLogger(Topology.class);

	/** How long one node is asked. */
	private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

	/** The least time between two readings. */
	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	/** How many nodes are asked at a time: one of them may hang. */
	private static final int AT_ONCE = 2;

	private final ClusterServers cluster;

	private final int capacity;

	private volatile @Nullable Slots slots;

	/** Calls that came before anything was known. */
	private final List<Call> waiting = new ArrayList<>();

	private @Nullable Reading reading;

	/** Whether it may have changed since the last reading began. */
	private boolean outdated;

	private volatile boolean closed;

	private long nextReading = System.nanoTime();

	private volatile @Nullable JedisException failure;

	/** Reads nothing yet. Only so many calls may wait until it is known. */
	Topology(ClusterServers cluster, int capacity) {
		this.cluster = cluster;
		this.capacity = capacity;
	}

	/**
	 * Returns the node that has the slot of a call; {@code null} if the call has failed,
	 * or waits here and is handed over as soon as something is known.
	 */
	@Nullable HostAndPort nodeOf(Call call) {
		Slots known = this.slots;
		if (known == null) {
			known = await(call);
		}
		if (known == null) {
			return null;
		}
		HostAndPort node = known.node(call.slot());
		if (node == null) {
			refresh();
			call.fail(NodeException.noneHas(call.slot()));
		}
		return node;
	}

	/**
	 * Lets a call wait. Returns what has become known meanwhile; {@code null} if the call
	 * waits or has failed.
	 */
	private synchronized @Nullable Slots await(Call call) {
		if (this.slots == null) {
			if (!refresh()) {
				call.fail(unknown());
			}
			else if (this.waiting.size() < this.capacity) {
				this.waiting.add(call);
			}
			else {
				call.fail(new NotSentException(Reason.QUEUE_FULL, "Too many calls wait for the nodes", null));
			}
		}
		return this.slots;
	}

	private JedisException unknown() {
		return this.closed ? ClusterServers.closedForGood() : new NotSentException(Reason.OUTAGE,
				"None of the nodes %s has said which of them has which slot".formatted(this.cluster.addresses()),
				this.failure);
	}

	/**
	 * Reads what may have changed, now or after a pause. Returns whether it is being
	 * read.
	 */
	synchronized boolean refresh() {
		this.outdated = true;
		if (!this.closed && this.reading == null && System.nanoTime() - this.nextReading >= 0) {
			this.nextReading = System.nanoTime() + PAUSE_NANOS;
			Reading next = new Reading(this.cluster.addresses());
			if (next.start()) {
				this.outdated = false;
				this.reading = next;
			}
		}
		return this.reading != null;
	}

	/** Reads again after a pause if that was asked for meanwhile. */
	private void goOn() {
		parkNanos(PAUSE_NANOS);
		synchronized (this) {
			if (this.outdated && this.reading == null) {
				refresh();
			}
		}
	}

	static void parkNanos(long time) {
		long end = System.nanoTime() + time;
		for (long left = time; left > 0; left = end - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	/** Takes in what a reading has shown; {@code null} if no node has answered. */
	private void end(Reading ended, @Nullable Slots read) {
		List<Call> calls;
		synchronized (this) {
			if (this.reading != ended) {
				return;
			}
			this.reading = null;
			this.nextReading = System.nanoTime() + PAUSE_NANOS;
			if (read != null) {
				this.slots = read;
			}
			calls = List.copyOf(this.waiting);
			this.waiting.clear();
		}
		ended.stop();
		if (read != null) {
			this.cluster.retain(read.masters());
			calls.forEach(this.cluster::submit);
		}
		else {
			calls.forEach((call) -> call.fail(unknown()));
		}
	}

	/** Reads nothing any more, and fails the calls that wait. */
	void close() {
		Reading last;
		synchronized (this) {
			this.closed = true;
			last = this.reading;
		}
		if (last != null) {
			end(last, null);
		}
	}

	/** A look at the nodes, by a few threads, until the first one answers. */
	private final class Reading implements Runnable {

		private final Queue<HostAndPort> toAsk;

		private final AtomicInteger readers;

		private final Set<Call> calls = ConcurrentHashMap.newKeySet();

		private volatile boolean over;

		Reading(List<HostAndPort> nodes) {
			this.toAsk = new ConcurrentLinkedQueue<>(nodes);
			this.toAsk.removeIf((node) -> !Topology.this.cluster.mayAnswer(node));
			this.readers = new AtomicInteger(Math.min(AT_ONCE, this.toAsk.size()));
		}

		/** Returns whether there is a node to ask and a thread to do it. */
		boolean start() {
			int count = this.readers.get();
			for (int i = count; i > 0; i--) {
				try {
					BackgroundThread.start(this, ClusterServers.THREAD);
				}
				catch (OutOfMemoryError ex) {
					// There can be no more threads.
					return this.readers.addAndGet(-i) > 0;
				}
			}
			return count > 0;
		}

		void stop() {
			this.over = true;
			this.calls.forEach((call) -> call.fail(new NoAnswerException("Another node has answered", null)));
		}

		@Override
		public void run() {
			try {
				for (HostAndPort node = this.toAsk.poll(); node != null && !this.over; node = this.toAsk.poll()) {
					ask(node);
				}
			}
			finally {
				if (this.readers.decrementAndGet() == 0) {
					end(this, null);
					goOn();
				}
			}
		}

		private void ask(HostAndPort node) {
			Call call = Slots.question(System.nanoTime() + PATIENCE_NANOS);
			this.calls.add(call);
			try {
				Topology.this.cluster.submit(node, call, false);
				Slots read = Slots.read(call.await(), node);
				if (!read.masters().isEmpty()) {
					end(this, read);
				}
			}
			catch (JedisException ex) {
				Topology.this.failure = ex;
				logger.debug("The node {} does not say which node has which slot", node, ex);
			}
			finally {
				this.calls.remove(call);
			}
		}

	}

}
