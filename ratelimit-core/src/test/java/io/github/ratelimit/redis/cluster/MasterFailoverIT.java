package io.github.ratelimit.redis.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.github.ratelimit.redis.connection.Connecting;
import io.github.ratelimit.test.Replication;
import io.github.ratelimit.test.StoppedServer;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A master of a cluster fails, and its replica takes over.
 */
@SuppressWarnings("try")
class MasterFailoverIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private static TestCluster cluster;

	private ClusterServers servers;

	/** On different masters; the first one fails. */
	private List<String> keys;

	private Node master;

	@BeforeAll
	static void start() {
		cluster = TestCluster.start("cluster-node-timeout 1000");
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	@BeforeEach
	void connect() {
		this.keys = SlotKeys.onDifferentMasters(cluster);
		this.master = cluster.master(SlotKeys.slot(this.keys.get(0)));
		this.servers = ClusterServers.of(cluster.addresses(), DefaultJedisClientConfig.builder().build(),
				Connecting.settings("cluster", BUDGET), Connecting.NOBODY);
		this.keys.forEach((key) -> Increment.of(this.servers, key));
		Replication.await(() -> this.master.admin().info("replication"));
	}

	@AfterEach
	void heal() {
		this.servers.close();
		cluster.heal();
	}

	private void awaitTakeover() {
		TestCluster.await("The replica has taken over", () -> {
			try {
				return this.keys.stream()
					.allMatch((key) -> Increment.submit(this.servers, BUDGET, key + "probe").number() > 0);
			}
			catch (JedisException ex) {
				return false;
			}
		});
	}

	@Test
	void callsGoToTheReplicaThatHasTakenOver() {
		this.master.kill();
		awaitTakeover();
		assertThat(this.keys).allSatisfy((key) -> assertThat(Increment.of(this.servers, key)).isEqualTo(2));
	}

	/** It is given up, and goes on later as if nothing had been. */
	@Test
	void hungMasterExecutesNothingLater() {
		try (StoppedServer stopped = StoppedServer.stop(this.master.admin().info("server"))) {
			awaitTakeover();
			assertThat(Increment.of(this.servers, this.keys.get(0))).isEqualTo(2);
		}
		assertThat(Increment.of(this.servers, this.keys.get(0))).isEqualTo(3);
		TestCluster.await("The old master is a replica", () -> !this.master.isMaster());
		assertThat(Increment.of(this.servers, this.keys.get(0))).isEqualTo(4);
	}

	@Test
	void nothingIsExecutedTwiceUnderLoad() throws Exception {
		AtomicBoolean stopped = new AtomicBoolean();
		List<Load> loads = new ArrayList<>();
		List<Future<?>> ends = new ArrayList<>();
		ExecutorService threads = Executors.newFixedThreadPool(6);
		try {
			for (int i = 0; i < 6; i++) {
				Load load = new Load(this.servers, this.keys.get(i % 3) + i, stopped);
				loads.add(load);
				ends.add(threads.submit(load));
			}
			TestCluster.await("Enough is done", () -> loads.get(0).done.get() > 500);
			this.master.kill();
			long before = loads.get(0).done.get();
			TestCluster.await("Enough is done again", () -> loads.get(0).done.get() > before + 500);
			stopped.set(true);
			for (Future<?> end : ends) {
				end.get();
			}
		}
		finally {
			stopped.set(true);
			threads.shutdownNow();
		}
		for (int i = 0; i < 6; i++) {
			long number = SlotKeys.number(cluster, loads.get(i).key);
			long done = loads.get(i).done.get();
			if (i % 3 == 0) {
				assertThat(number).isPositive().isLessThanOrEqualTo(done + loads.get(i).failed.get());
			}
			else {
				assertThat(number).isBetween(done, done + loads.get(i).failed.get());
			}
		}
	}

	/** Counts what is done and what fails. */
	private static final class Load implements Runnable {

		private final ClusterServers servers;

		private final String key;

		private final AtomicBoolean stopped;

		private final AtomicLong done = new AtomicLong();

		private final AtomicLong failed = new AtomicLong();

		Load(ClusterServers servers, String key, AtomicBoolean stopped) {
			this.servers = servers;
			this.key = key;
			this.stopped = stopped;
		}

		@Override
		public void run() {
			while (!this.stopped.get()) {
				try {
					Increment.of(this.servers, this.key);
					this.done.incrementAndGet();
				}
				catch (JedisException ex) {
					this.failed.incrementAndGet();
				}
			}
		}

	}

}
