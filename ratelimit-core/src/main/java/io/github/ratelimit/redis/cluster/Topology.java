package io.github.ratelimit.redis.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.ratelimit.redis.connection.BackgroundThread;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Knows which node of a cluster has which slot. A background thread reads that for the
 * first call, after a redirection, and while a node does not answer, because a replica
 * may have taken over. Calls wait here until the slots are known.
 */
final class Topology {

	private static final Logger logger = LoggerFactory.getLogger(Topology.class);

	private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

	/** When the next node is asked as well, because one may hang. */
	private static final long NEXT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final ClusterServers cluster;

	private final int capacity;

	private volatile @Nullable Slots slots;

	private final List<Call> waiting = new ArrayList<>();

	private boolean running;

	private boolean asking;

	/** Whether the slots may have changed since the last reading began. */
	private boolean outdated;

	private volatile @Nullable Throwable failure;

	Topology(ClusterServers cluster, int capacity) {
		this.cluster = cluster;
		this.capacity = capacity;
	}

	/** The node that has the slot; {@code null} if the call has failed, or waits here. */
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
			call.fail(ClusterServers.notSent("No node of the cluster has the slot " + call.slot()));
		}
		return node;
	}

	private @Nullable Slots await(Call call) {
		synchronized (this) {
			boolean asked = this.slots == null && refresh();
			if (this.slots != null || asked && this.waiting.size() < this.capacity && this.waiting.add(call)) {
				return this.slots;
			}
			if (!asked) {
				call.fail(unknown());
				return null;
			}
		}
		this.cluster.listener.overloaded();
		call.fail(new CallException(Reason.QUEUE_FULL, "Too many other calls wait", null));
		return null;
	}

	private JedisException unknown() {
		if (this.cluster.closed) {
			return ClusterServers.closedForGood();
		}
		Throwable silence = this.cluster.briefSilence();
		Throwable reason = (silence != null) ? silence : this.failure;
		String nodes = "";
		try {
			nodes = " " + this.cluster.addresses();
		}
		catch (Throwable ex) {
			reason = ex;
		}
		return new CallException(Reason.OUTAGE, "None of the nodes%s has returned the slots".formatted(nodes), reason);
	}

	/** Asks the nodes, now or after a pause. Returns whether they are being asked. */
	synchronized boolean refresh() {
		this.outdated = true;
		if (!this.running && !this.cluster.closed) {
			this.running = BackgroundThread.start(this::run, ClusterServers.THREAD);
			this.asking = this.running;
		}
		return this.asking && !this.cluster.closed;
	}

	private void run() {
		while (beginReading()) {
			try {
				end(ask());
			}
			catch (Throwable ex) {
				// It is the only one, so that nothing may end it.
				logger.warn("The slots of the cluster could not be read", ex);
			}
			rest();
		}
	}

	private synchronized boolean beginReading() {
		this.running = this.outdated && !this.cluster.closed;
		this.asking = this.running;
		this.outdated = false;
		if (!this.running) {
			notifyAll();
		}
		return this.running;
	}

	synchronized void awaitEnd() {
		BackgroundThread.await(this, () -> !this.running, PATIENCE_NANOS);
	}

	private synchronized void rest() {
		BackgroundThread.await(this, () -> this.cluster.closed, PAUSE_NANOS);
	}

	private @Nullable Slots ask() {
		try {
			return ask(this.cluster.addresses().stream().filter(this.cluster::mayAnswer).iterator());
		}
		catch (Throwable ex) {
			logger.debug("No node could be asked for the slots", ex);
			this.failure = ex;
			return null;
		}
	}

	private @Nullable Slots ask(Iterator<HostAndPort> nodes) {
		Map<Call, HostAndPort> asked = new HashMap<>();
		while (!this.cluster.closed && (nodes.hasNext() || !asked.isEmpty())) {
			if (nodes.hasNext()) {
				HostAndPort node = nodes.next();
				Call question = Slots.question(System.nanoTime() + PATIENCE_NANOS);
				asked.put(question, node);
				this.cluster.submit(node, question, false);
			}
			Call done = firstDone(asked, nodes.hasNext() ? NEXT_NANOS : PATIENCE_NANOS);
			Slots read = (done != null) ? read(done, asked.remove(done)) : null;
			if (read != null || done == null && !nodes.hasNext()) {
				return read;
			}
		}
		return null;
	}

	private static @Nullable Call firstDone(Map<Call, HostAndPort> asked, long time) {
		long end = System.nanoTime() + time;
		while (true) {
			for (Call call : asked.keySet()) {
				if (call.isDone()) {
					return call;
				}
			}
			long left = end - System.nanoTime();
			if (left <= 0) {
				return null;
			}
			LockSupport.parkNanos(left);
		}
	}

	private @Nullable Slots read(Call question, HostAndPort node) {
		try {
			Slots read = new Slots(question.await(), node);
			return read.masters.isEmpty() ? null : read;
		}
		catch (JedisException ex) {
			this.failure = ex;
			logger.debug("The node {} has not returned the slots", node, ex);
			return null;
		}
	}

	/** Ends a reading. No node has answered if nothing was read. */
	private void end(@Nullable Slots read) {
		List<Call> calls;
		synchronized (this) {
			this.asking = false;
			if (read != null) {
				this.slots = read;
			}
			calls = List.copyOf(this.waiting);
			this.waiting.clear();
		}
		if (read != null) {
			this.cluster.retain(read.masters);
			calls.forEach(this.cluster::submit);
		}
		else {
			calls.forEach((call) -> call.fail(unknown()));
		}
	}

	void close() {
		end(null);
	}

}
