package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.ratelimit.redis.connection.BackgroundThread;
import io.github.ratelimit.redis.connection.BorrowedConnections;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.ConnectionSource;
import io.github.ratelimit.redis.connection.Listener;
import io.github.ratelimit.redis.connection.OwnConnections;
import io.github.ratelimit.redis.connection.Server;
import io.github.ratelimit.redis.connection.ServerSettings;
import io.github.ratelimit.redis.connection.Servers;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisClusterInfoCache;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisClusterException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The nodes of a cluster. Each call is sent to the node that has its slot. The slots are
 * read in the background; calls wait until they are known. A call that a node has not
 * executed, because another one has the slot, is redirected. Nothing else is sent twice.
 * <p>
 * A node that does not answer fails its calls with {@link Reason#NODE} as long as another
 * node answers. Nodes that have lost their slots are closed once they had time to answer.
 */
public final class ClusterServers implements Servers {

	static final String THREAD = "ratelimit-cluster";

	private static final Executor THREADS = BackgroundThread.each(THREAD);

	/** Most redirections of a call. Nodes that disagree may redirect it for ever. */
	private static final int MAX_REDIRECTIONS = 8;

	private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final Supplier<Collection<HostAndPort>> seeds;

	private final Function<HostAndPort, ConnectionSource> sources;

	private final ServerSettings settings;

	final Listener listener;

	final Topology topology;

	private final Map<HostAndPort, Node> nodes = new ConcurrentHashMap<>();

	/** Nodes without slots that still have time to answer. */
	private final Set<Node> leaving = ConcurrentHashMap.newKeySet();

	private volatile Set<HostAndPort> masters = Set.of();

	volatile boolean closed;

	private @Nullable Long outageSince;

	private ClusterServers(Supplier<Collection<HostAndPort>> seeds, Function<HostAndPort, ConnectionSource> sources,
			ServerSettings settings, Listener listener) {
		this.seeds = seeds;
		this.sources = sources;
		this.settings = settings;
		this.listener = listener;
		this.topology = new Topology(this, settings.maxWaiting());
	}

	/** Creates a cluster with own connections, given at least one of the nodes. */
	public static ClusterServers of(Set<HostAndPort> seeds, JedisClientConfig config, ServerSettings settings,
			Listener listener) {
		Set<HostAndPort> given = Set.copyOf(seeds);
		return new ClusterServers(() -> given, (node) -> OwnConnections.to(node, config), settings, listener);
	}

	/** Borrows connections of a client for each batch, and leaves them open. */
	public static ClusterServers of(ClusterConnectionProvider provider, ServerSettings settings, Listener listener) {
		return new ClusterServers(() -> provider.getNodes().keySet().stream().map(HostAndPort::from).toList(),
				(node) -> new BorrowedConnections(() -> borrow(provider, node), () -> pools(provider, node)), settings,
				listener);
	}

	/** A closed provider would make connections that nobody closes. */
	private static Connection borrow(ClusterConnectionProvider provider, HostAndPort node) {
		Map<String, ConnectionPool> pools = provider.getNodes();
		if (pools.isEmpty()) {
			throw new JedisException("The client is closed");
		}
		ConnectionPool pool = pools.get(JedisClusterInfoCache.getNodeKey(node));
		return (pool != null) ? pool.getResource() : provider.getConnection(node);
	}

	private static Collection<ConnectionPool> pools(ClusterConnectionProvider provider, HostAndPort node) {
		return Stream.ofNullable(provider.getNodes().get(JedisClusterInfoCache.getNodeKey(node))).toList();
	}

	@Override
	public int slot(byte[] key) {
		return JedisClusterCRC16.getSlot(key);
	}

	@Override
	public boolean haveSlots() {
		return true;
	}

	@Override
	public void submit(Call call) {
		HostAndPort node = this.topology.nodeOf(call);
		if (node != null) {
			submit(node, call, false);
		}
	}

	void submit(HostAndPort address, Call call, boolean asking) {
		if (this.closed) {
			call.fail(closedForGood());
			return;
		}
		Node node = this.nodes.get(address);
		if (node == null) {
			node = this.nodes.computeIfAbsent(address, Node::new);
			if (this.closed) {
				// Who has closed the others may have missed it.
				node.server.close();
			}
		}
		node.server.submit(call, asking);
	}

	static JedisException closedForGood() {
		return new CallException(Reason.OUTAGE, "The connections to the cluster are closed", null);
	}

	static CallException notSent(String message) {
		return new CallException(Reason.NODE, message, new CallException(Reason.OUTAGE, message, null));
	}

	private static boolean isOutage(JedisException failure) {
		return (failure instanceof CallException call)
				? call.reason() == Reason.OUTAGE || call.reason() == Reason.SILENCE
				: failure instanceof JedisConnectionException;
	}

	List<HostAndPort> addresses() {
		List<HostAndPort> masters = new ArrayList<>(this.masters);
		List<HostAndPort> others = new ArrayList<>(this.seeds.get());
		Collections.shuffle(masters);
		Collections.shuffle(others);
		return Stream.concat(masters.stream(), others.stream()).distinct().toList();
	}

	boolean mayAnswer(HostAndPort address) {
		Node node = this.nodes.get(address);
		return node == null || !node.server.isUnavailable();
	}

	boolean anyAnswers(@Nullable HostAndPort except) {
		Collection<HostAndPort> expected = this.masters.isEmpty() ? this.seeds.get() : this.masters;
		return expected.stream().anyMatch((address) -> !address.equals(except) && mayAnswer(address));
	}

	@Nullable JedisException briefSilence() {
		return this.nodes.values()
			.stream()
			.flatMap((node) -> Stream.ofNullable(node.server.briefSilence()))
			.findFirst()
			.orElse(null);
	}

	void retain(Set<HostAndPort> masters) {
		this.masters = masters;
		notifyListener(null);
		List<Node> left = new ArrayList<>();
		this.nodes.values().removeIf((node) -> !masters.contains(node.address) && left.add(node));
		if (!left.isEmpty()) {
			this.leaving.addAll(left);
			CompletableFuture.delayedExecutor(GRACE_NANOS, TimeUnit.NANOSECONDS, THREADS).execute(() -> {
				left.forEach((node) -> node.server.close());
				this.leaving.removeAll(left);
			});
		}
	}

	/** A node has become unavailable, for a cause, or available. */
	void changed(@Nullable JedisException cause) {
		notifyListener(cause);
		this.topology.refresh();
	}

	private synchronized void notifyListener(@Nullable JedisException cause) {
		boolean answer = anyAnswers(null);
		Long since = this.outageSince;
		if (cause != null && !answer && since == null) {
			this.outageSince = System.nanoTime();
			this.listener.opened(cause);
		}
		else if (answer && since != null) {
			this.outageSince = null;
			this.listener.closed(Duration.ofNanos(System.nanoTime() - since));
		}
	}

	private Stream<Node> all() {
		return Stream.concat(this.nodes.values().stream(), this.leaving.stream());
	}

	@Override
	public void disconnect() {
		// It would connect to nodes again.
		this.topology.awaitEnd();
		CompletableFuture
			.allOf(all().map((node) -> CompletableFuture.runAsync(node.server::disconnect, THREADS))
				.toArray(CompletableFuture[]::new))
			.join();
	}

	@Override
	public void close() {
		this.closed = true;
		this.topology.close();
		all().forEach((node) -> node.server.close());
	}

	/** Redirects calls, and tells the failure of one node from an outage of all. */
	private final class Node implements Listener {

		private final HostAndPort address;

		private final Server server;

		Node(HostAndPort address) {
			this.address = address;
			this.server = new Server(ClusterServers.this.settings.withName(address.toString()),
					ClusterServers.this.sources.apply(address), this);
		}

		@Override
		public void redirected(List<Call> calls, JedisRedirectionException redirection) {
			HostAndPort target = redirection.getTargetNode();
			boolean asking = redirection instanceof JedisAskDataException;
			if (!asking) {
				ClusterServers.this.topology.refresh();
			}
			calls.stream().filter(Call::takeBack).forEach((call) -> {
				if (call.countRedirection() > MAX_REDIRECTIONS) {
					call.fail(notSent(
							"The nodes of the cluster do not agree on which of them has the slot " + call.slot()));
				}
				else {
					ClusterServers.this.submit(Slots.address(target.getHost(), target.getPort(), this.address), call,
							asking);
				}
			});
		}

		@Override
		public JedisException explain(JedisException failure) {
			boolean outage = isOutage(failure);
			if (outage || failure instanceof JedisClusterException) {
				ClusterServers.this.topology.refresh();
			}
			return (outage && anyAnswers(this.address))
					? new CallException(Reason.NODE, "The node %s does not answer".formatted(this.address), failure)
					: failure;
		}

		@Override
		public void opened(JedisException cause) {
			changed(cause);
		}

		@Override
		public void closed(Duration duration) {
			changed(null);
		}

		/** A replica may have taken over. */
		@Override
		public void left() {
			ClusterServers.this.topology.refresh();
		}

		@Override
		public void overloaded() {
			ClusterServers.this.listener.overloaded();
		}

		@Override
		public void batch(int calls, long nanos) {
			ClusterServers.this.listener.batch(calls, nanos);
		}

	}

}
