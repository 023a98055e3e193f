package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.ConnectionSource;
import io.github.ratelimit.redis.connection.Listener;
import io.github.ratelimit.redis.connection.NotSentException;
import io.github.ratelimit.redis.connection.NotSentException.Reason;
import io.github.ratelimit.redis.connection.ServerSettings;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The nodes that are used. Those that have no slots any more answer what they were asked
 * for, and are closed.
 */
final class Nodes {

	/** How long nodes answer what they were asked for before they were left. */
	private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final Supplier<Collection<HostAndPort>> seeds;

	private final Function<HostAndPort, ConnectionSource> sources;

	private final ServerSettings settings;

	private final Listener listener;

	private final Runnable changed;

	private final Map<HostAndPort, Node> nodes = new ConcurrentHashMap<>();

	private final Set<Node> leaving = ConcurrentHashMap.newKeySet();

	/** Those that have slots: others answer although the cluster is down. */
	private volatile Set<HostAndPort> masters = Set.of();

	private volatile boolean closed;

	private boolean outage;

	private long outageSince;

	/**
	 * Connects to nothing yet.
	 * @param seeds nodes to be asked besides those that have slots
	 * @param sources connections to a node
	 * @param changed is run when slots may be elsewhere than is known
	 */
	Nodes(Supplier<Collection<HostAndPort>> seeds, Function<HostAndPort, ConnectionSource> sources,
			ServerSettings settings, Listener listener, Runnable changed) {
		this.seeds = seeds;
		this.sources = sources;
		this.settings = settings;
		this.listener = listener;
		this.changed = changed;
	}

	/**
	 * Hands a call over to a node.
	 * @param asks whether the slot of the call is moving there
	 */
	void submit(HostAndPort address, Call call, boolean asks) {
		Node node = this.nodes.get(address);
		if (node == null && !this.closed) {
			node = this.nodes.computeIfAbsent(address, this::create);
			if (this.closed) {
				// Perhaps after those that were there have been closed.
				close();
			}
		}
		if (node != null) {
			node.submit(call, asks);
		}
		else {
			call.fail(closedForGood());
		}
	}

	static JedisException closedForGood() {
		return new NotSentException(Reason.OUTAGE, "The connections to the cluster are closed", null);
	}

	private Node create(HostAndPort address) {
		return new Node(address, this, this.settings, this.sources.apply(address));
	}

	/** Returns all nodes that may know which node has which slot. */
	Collection<HostAndPort> addresses() {
		List<HostAndPort> addresses = new ArrayList<>(this.masters);
		Collections.shuffle(addresses);
		List<HostAndPort> others = new ArrayList<>(this.seeds.get());
		others.removeAll(addresses);
		Collections.shuffle(others);
		addresses.addAll(others);
		return addresses;
	}

	/** Returns those of them that are not known to be gone, in the order to ask them. */
	Queue<HostAndPort> toAsk() {
		Queue<HostAndPort> toAsk = new ConcurrentLinkedQueue<>(addresses());
		toAsk.removeIf((address) -> !mayAnswer(address));
		return toAsk;
	}

	private boolean mayAnswer(HostAndPort address) {
		Node node = this.nodes.get(address);
		return node == null || !node.isOpen();
	}

	/** Whether another node than this one may answer. */
	boolean othersAnswer(Node node) {
		return answer(node.address());
	}

	private boolean answer(@Nullable HostAndPort except) {
		Collection<HostAndPort> expected = this.masters.isEmpty() ? this.seeds.get() : this.masters;
		return expected.stream().anyMatch((address) -> !address.equals(except) && mayAnswer(address));
	}

	/** Slots may be elsewhere than is known. */
	void changed() {
		this.changed.run();
	}

	Listener listener() {
		return this.listener;
	}

	/** Only these nodes have slots. */
	void retain(Set<HostAndPort> masters) {
		this.masters = masters;
		List<Node> left = new ArrayList<>();
		this.nodes.values().removeIf((node) -> !masters.contains(node.address()) && left.add(node));
		this.leaving.addAll(left);
		look(null);
		closeFailed();
		if (!left.isEmpty()) {
			Topology.start(() -> {
				Topology.parkNanos(GRACE_NANOS);
				left.forEach(this::close);
			});
		}
	}

	/** A node counts as gone. */
	void opened(JedisException cause) {
		look(cause);
		closeFailed();
		this.changed.run();
	}

	/** A node has answered again. */
	void closed() {
		look(null);
		closeFailed();
		this.changed.run();
	}

	/**
	 * Looks whether any node answers.
	 * @param cause why one does not
	 */
	private synchronized void look(@Nullable JedisException cause) {
		boolean answer = answer(null);
		if (cause != null && !answer && !this.outage) {
			this.outage = true;
			this.outageSince = System.nanoTime();
			this.listener.opened(cause);
		}
		else if (answer && this.outage) {
			this.outage = false;
			this.listener.closed(Duration.ofNanos(System.nanoTime() - this.outageSince));
		}
	}

	/**
	 * Closes those that have failed and are of no use, unless everything fails: they look
	 * all the time whether they answer again. By a thread of its own, because theirs run
	 * this.
	 */
	private void closeFailed() {
		if (answer(null)) {
			this.nodes.values().removeIf((node) -> isFailed(node) && this.leaving.add(node));
		}
		if (this.leaving.stream().anyMatch(Node::isOpen)) {
			Topology.start(() -> this.leaving.stream().filter(Node::isOpen).forEach(this::close));
		}
	}

	private boolean isFailed(Node node) {
		return node.isOpen() && !this.masters.isEmpty() && !this.masters.contains(node.address());
	}

	private void close(Node node) {
		this.leaving.remove(node);
		node.close();
	}

	void close() {
		this.closed = true;
		this.nodes.values().removeIf(this.leaving::add);
		this.leaving.forEach(this::close);
	}

}
