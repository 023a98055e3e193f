package io.github.ratelimit.redis;

import java.util.List;

import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import redis.clients.jedis.Pipeline;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever happens, a cluster that has each identifier in another slot and the store in
 * memory come to the same decisions, count the same and have the same blocks.
 */
class ClusterDifferentialIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final List<Node> MASTERS = CLUSTER.nodes().stream().filter(Node::isMaster).toList();

	private static final String KEY_PREFIX = TestRedis.newKeyPrefix();

	private static final String START = "2026-03-01T12:00:20.123456Z";

	private static final RedisConnections REDIS = CLUSTER.connections().build();

	private static final Comparison COMPARISON = new Comparison(RedisRateLimiter.of(REDIS, KEY_PREFIX),
			new ManualClock(START));

	@AfterContainer
	static void tellHowMuchWasCompared() {
		REDIS.close();
		COMPARISON.tellHowMuchWasCompared();
	}

	@Example
	void eachIdentifierIsInAnotherSlot() {
		assertThat(OperationSequences.IDENTIFIERS.stream().map(ClusterKeys::slot)).hasSize(3).doesNotHaveDuplicates();
	}

	/**
	 * Few tries, because almost each has scripts of its own, which take longer to compose
	 * than to use. Long runs have more sequences in each.
	 */
	@Property(tries = 10)
	void clusterAndMemoryComeToTheSameDecisions(@ForAll("sequences") List<List<Operation>> sequences) {
		for (List<Operation> operations : sequences) {
			forgetCounts();
			COMPARISON.compare(START, operations);
		}
	}

	@Provide
	Arbitrary<List<List<Operation>>> sequences() {
		return OperationSequences.inCluster();
	}

	/** So that no try has anything of the one before, which may have failed. */
	private static void forgetCounts() {
		for (Node node : MASTERS) {
			Pipeline pipeline = node.admin().pipelined();
			node.admin().keys(KEY_PREFIX + ":*").forEach(pipeline::del);
			pipeline.sync();
		}
	}

}
