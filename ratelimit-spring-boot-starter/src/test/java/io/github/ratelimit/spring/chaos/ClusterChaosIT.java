package io.github.ratelimit.spring.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.JedisClusterCRC16;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several instances of an application under steady load, while a master of their cluster
 * dies, or slots move from one master to another.
 */
@ExtendWith(OutputCaptureExtension.class)
class ClusterChaosIT {

	/** How many slots move. */
	private static final int MOVED = 50;

	private static TestCluster cluster;

	private static Fleet fleet;

	@BeforeAll
	static void start() {
		cluster = TestCluster.start("cluster-node-timeout 1000");
		fleet = new Fleet(3,
				"ratelimit.redis.cluster.nodes="
						+ cluster.addresses().stream().map(HostAndPort::toString).collect(Collectors.joining(",")),
				"ratelimit.redis.timeout=" + Trial.BUDGET.toMillis() + "ms");
	}

	@AfterAll
	static void stop() {
		fleet.close();
		cluster.close();
	}

	@Test
	void masterIsKilled(CapturedOutput output) {
		List<String> users = onEachMaster();
		String user = users.get(0);
		Node master = cluster.master(slot(user));
		AtomicLong lost = new AtomicLong();
		Trial trial = new Trial(fleet, users, onEachMaster());
		Outcome outcome = trial.survive("master of a cluster killed", (traffic) -> {
			assertThat(master.admin().keys("*" + user + "*")).as("counts on the master").isNotEmpty();
			long start = System.nanoTime() - Trial.LAG.toNanos();
			master.kill();
			lost.set(traffic.countedSince(user, start));
		});
		outcome.of(user).assertLostAtMost(lost.get());
		outcome.of(users.get(1)).assertCounted();
		outcome.of(users.get(2)).assertCounted();
		trial.assertQuota(outcome, user, lost.get());
		trial.assertQuota(outcome, users.get(1), 0);
		assertThat(outcome.reporting()).as("instances that reported the outage").hasSize(3);
		// One of each instance, and perhaps one of a request that was under way at the
		// end.
		assertThat(output.getOut().lines().filter((line) -> line.contains("The store failed"))).as("warnings")
			.hasSizeBetween(3, 3 + Traffic.CLIENTS);
	}

	@Test
	void slotsMove() {
		Node from = cluster.master(0);
		Node to = cluster.otherMasters(0).get(0);
		List<String> users = users((slot) -> slot < MOVED, 10);
		Trial trial = new Trial(fleet, users, onEachMaster());
		Outcome outcome = trial.survive("50 slots of a cluster moved and moved back", (traffic) -> {
			cluster.move(0, MOVED - 1, from, to);
			cluster.move(0, MOVED - 1, to, from);
		});
		outcome.assertCounted();
		trial.assertQuota(outcome, users.get(0), 0);
	}

	/** Users that nobody has had yet, one on each master. */
	private static List<String> onEachMaster() {
		List<String> users = new ArrayList<>();
		for (Node master : cluster.nodes().stream().filter(Node::isMaster).toList()) {
			users.addAll(users((slot) -> cluster.master(slot) == master, 1));
		}
		return users;
	}

	private static List<String> users(IntPredicate slot, int count) {
		return Stream.generate(() -> UUID.randomUUID().toString())
			.filter((user) -> slot.test(slot(user)))
			.limit(count)
			.toList();
	}

	private static int slot(String user) {
		return JedisClusterCRC16.getSlot("header%3AX-User:" + user);
	}

}
