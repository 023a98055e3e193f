package io.github.ratelimit.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.redis.RedisConnections;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.embedded.RedisServer;

/**
 * A cluster of a test: three masters with a replica each, on this host.
 */
public final class TestCluster implements AutoCloseable {

	private static final int SLOTS = 16_384;

	private static final int MASTERS = 3;

	/** Nodes that give each other up later tell each other what they know less often. */
	private static final String NODE_TIMEOUT = "cluster-node-timeout 3000";

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final Path folder;

	private final List<Node> nodes = new ArrayList<>();

	/** A node, and what the other nodes know it by. */
	public record Node(HostAndPort address, RedisServer server, Jedis admin, String id) {

		/** Kills the process, without a goodbye. */
		public void kill() {
			ProcessHandle process = ProcessHandle.of(StoppedServer.processId(this.admin.info("server"))).orElseThrow();
			process.destroyForcibly();
			process.onExit().join();
		}

		private void stop() {
			try {
				this.admin.close();
			}
			catch (JedisConnectionException ex) {
				// It was killed.
			}
			TestRedis.stop(this.server);
		}

		private Node restarted() {
			stop();
			try {
				this.server.start();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			return new Node(this.address, this.server, new Jedis(this.address, JedisClients.PATIENT), this.id);
		}

		/** Whether it is the master of some slots. */
		public boolean isMaster() {
			return isAlive() && replication().contains("role:master");
		}

		private String replication() {
			return this.admin.info("replication");
		}

		boolean isAlive() {
			try {
				this.admin.ping();
				return true;
			}
			catch (JedisConnectionException ex) {
				return false;
			}
		}

	}

	private TestCluster(Path folder) {
		this.folder = folder;
	}

	public static TestCluster shared() {
		return Shared.CLUSTER;
	}

	private static final class Shared {

		/** Tests let single nodes hang: that must not make a replica take over. */
		private static final TestCluster CLUSTER = start("cluster-node-timeout 10000");

		static {
			Runtime.getRuntime().addShutdownHook(new Thread(CLUSTER::close));
		}

	}

	/**
	 * Starts a cluster.
	 * @param settings further settings of all nodes, which can be changed while they run
	 */
	public static TestCluster start(String... settings) {
		TestCluster cluster = new TestCluster(TestRedis.newFolder("cluster"));
		try {
			for (int i = 1; i <= 2 * MASTERS; i++) {
				cluster.startNode(settings).admin().clusterSetConfigEpoch(i);
			}
			cluster.set(NODE_TIMEOUT);
			cluster.join();
			cluster.set(settings);
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	public Node addMaster() {
		Node node = startNode();
		this.nodes.get(0).admin().clusterMeet(node.address().getHost(), node.address().getPort());
		await("All nodes know each other", () -> this.nodes.stream().filter(Node::isAlive).allMatch(this::knowsAll));
		await("It is content", () -> node.admin().clusterInfo().contains("cluster_state:ok"));
		return node;
	}

	private void set(String... settings) {
		for (String setting : settings) {
			String[] words = setting.split(" ");
			this.nodes.forEach((node) -> node.admin().configSet(words[0], words[1]));
		}
	}

	private Node startNode(String... settings) {
		int port = TestRedis.freePortOfNode();
		// A node that found the file of another would take its slots.
		List<String> all = new ArrayList<>(List.of("cluster-enabled yes", "cluster-config-file nodes-" + port + ".conf",
				"dbfilename " + port + ".rdb", "dir " + this.folder, NODE_TIMEOUT, "repl-diskless-sync yes",
				"repl-diskless-sync-delay 0"));
		all.addAll(List.of(settings));
		RedisServer server = TestRedis.startServer(port, all.toArray(String[]::new));
		HostAndPort address = new HostAndPort("127.0.0.1", port);
		Jedis admin = new Jedis(address, JedisClients.PATIENT);
		Node node = new Node(address, server, admin, admin.clusterMyId());
		this.nodes.add(node);
		return node;
	}

	private void join() {
		for (int i = 0; i < MASTERS; i++) {
			int from = SLOTS * i / MASTERS;
			int to = SLOTS * (i + 1) / MASTERS;
			this.nodes.get(i).admin().clusterAddSlots(IntStream.range(from, to).toArray());
		}
		for (Node node : this.nodes) {
			for (Node other : this.nodes.subList(0, this.nodes.indexOf(node))) {
				node.admin().clusterMeet(other.address().getHost(), other.address().getPort());
			}
		}
		await("All nodes know each other", () -> this.nodes.stream().allMatch(this::knowsAll));
		for (int i = 0; i < MASTERS; i++) {
			this.nodes.get(MASTERS + i).admin().clusterReplicate(this.nodes.get(i).id());
		}
		awaitContent();
	}

	private void awaitContent() {
		await("All masters have a replica",
				() -> this.nodes.stream()
					.filter((node) -> node.replication().contains("state=online"))
					.count() == MASTERS);
		await("All nodes are content", () -> this.nodes.stream().allMatch(TestCluster::isContent));
	}

	private static boolean isContent(Node node) {
		String info = node.admin().clusterInfo();
		return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS)
				&& known(node).noneMatch((words) -> words[2].contains("fail"))
				&& known(node).filter((words) -> words[2].contains("slave")).count() == MASTERS;
	}

	/**
	 * Makes it whole again after a failover: nodes that were killed come back, and there
	 * are no Redis keys.
	 */
	public void heal() {
		this.nodes.replaceAll((node) -> node.isAlive() ? node : node.restarted());
		awaitContent();
		this.nodes.stream().filter(Node::isMaster).forEach((node) -> node.admin().flushAll());
	}

	private boolean knowsAll(Node node) {
		return known(node).filter((words) -> words[7].equals("connected")).count() == this.nodes.size()
				&& known(node).noneMatch((words) -> words[2].contains("handshake"));
	}

	/** All nodes: first the masters of the beginning, then their replicas. */
	public List<Node> nodes() {
		return List.copyOf(this.nodes);
	}

	/** Connections to all nodes, with much time for each decision. */
	public RedisConnections.Builder connections() {
		return RedisConnections.cluster(addresses()).timeBudget(TestRedis.PATIENCE);
	}

	public Set<HostAndPort> addresses() {
		return this.nodes.stream().map(Node::address).collect(Collectors.toSet());
	}

	/** The master that has a slot, as the others say who are still there. */
	public Node master(int slot) {
		return this.nodes.stream()
			.filter((node) -> node.isAlive() && owns(node, slot))
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("No node has the slot " + slot));
	}

	private static boolean owns(Node node, int slot) {
		return known(node).filter((words) -> words[2].equals("myself,master"))
			.flatMap(TestCluster::ranges)
			.map((range) -> range.split("-"))
			.anyMatch(
					(range) -> Integer.parseInt(range[0]) <= slot && slot <= Integer.parseInt(range[range.length - 1]));
	}

	/** What a node says of each: its identifier, address, flags, and so on. */
	private static Stream<String[]> known(Node node) {
		return node.admin().clusterNodes().lines().map((line) -> line.split(" "));
	}

	/** The slots that a node has, without those that move. */
	private static Stream<String> ranges(String[] words) {
		return Stream.of(words).skip(8).filter((range) -> !range.startsWith("["));
	}

	public List<Node> otherMasters(int slot) {
		Node owner = master(slot);
		return this.nodes.stream().filter((node) -> node != owner && node.isMaster()).toList();
	}

	/** Begins to move a slot: new Redis keys are created at the other node. */
	public static void beginToMove(int slot, Node from, Node to) {
		to.admin().clusterSetSlotImporting(slot, from.id());
		from.admin().clusterSetSlotMigrating(slot, to.id());
	}

	public static void moveKeys(int slot, Node from, Node to, int count) {
		for (String key : from.admin().clusterGetKeysInSlot(slot, count)) {
			from.admin().migrate(to.address().getHost(), to.address().getPort(), key, 0, 5000);
		}
	}

	/** Moves all other Redis keys of a slot that is moving, and then the slot. */
	public void endMove(int slot, Node from, Node to) {
		hand(slot, from, to);
		awaitAgreement();
	}

	/** Moves slots, up to the last one, and their Redis keys, one after the other. */
	public void move(int first, int last, Node from, Node to) {
		for (int slot = first; slot <= last; slot++) {
			beginToMove(slot, from, to);
			hand(slot, from, to);
		}
		awaitAgreement();
	}

	private void hand(int slot, Node from, Node to) {
		while (from.admin().clusterCountKeysInSlot(slot) > 0) {
			moveKeys(slot, from, to, 10);
		}
		to.admin().clusterSetSlotNode(slot, to.id());
		tell(from, slot, to);
		otherMasters(slot).forEach((node) -> tell(node, slot, to));
	}

	private static void tell(Node node, int slot, Node owner) {
		try {
			node.admin().clusterSetSlotNode(slot, owner.id());
		}
		catch (JedisDataException ex) {
			// One that was left without slots has become a replica just now.
			if (!String.valueOf(ex.getMessage()).contains("only with masters")) {
				throw ex;
			}
		}
	}

	private void awaitAgreement() {
		// Another move of a slot is not believed by a node that does not know the epoch
		// of the owner.
		await("All nodes say the same of all slots",
				() -> this.nodes.stream().filter(Node::isAlive).map(TestCluster::owners).distinct().count() == 1);
	}

	/** The nodes that have slots: the identifier of each, its epoch and its slots. */
	private static Set<String> owners(Node node) {
		return known(node).filter((words) -> words.length > 8)
			.map((words) -> words[0] + " " + words[6] + " " + ranges(words).toList())
			.collect(Collectors.toSet());
	}

	public static void await(String what, BooleanSupplier condition) {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - end > 0) {
				throw new IllegalStateException("Not within " + PATIENCE + ": " + what);
			}
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
		}
	}

	@Override
	public void close() {
		this.nodes.forEach(Node::stop);
		try (Stream<Path> files = Files.walk(this.folder)) {
			files.sorted(Comparator.reverseOrder()).forEach((file) -> file.toFile().delete());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
