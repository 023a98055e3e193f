package io.github.ratelimit.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.PermissionsIT.Store;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a user of all nodes of a cluster must be allowed to do: exactly what the guide
 * says.
 */
class ClusterPermissionsIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Policy POLICY = Policy.of("new", new FixedWindow(), Limit.parse("3/d"));

	private static final Path PAGE = Path.of("..", "docs", "redis.md");

	/** What the documentation says is needed besides. */
	private static final String SLOTS = "+cluster|slots";

	private static final String ASKING = "+asking";

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final String user = "user-" + this.keyPrefix;

	@AfterEach
	void deleteUser() {
		CLUSTER.nodes().forEach((node) -> node.admin().aclDelUser(this.user));
	}

	@Test
	void userOfDocumentationIsEnough() throws IOException {
		assertThat(Files.readString(PAGE).replace('\n', ' '))
			.contains("in a cluster `" + SLOTS + "` and `" + ASKING + "`");
		int slot = ClusterKeys.slot(ALICE);
		Node from = CLUSTER.master(slot);
		Node to = CLUSTER.otherMasters(slot).get(0);
		try (RedisConnections redis = connect(SLOTS, ASKING)) {
			Store.SCRIPTS.operations(redis, this.keyPrefix).forEach(Runnable::run);
			TestCluster.beginToMove(slot, from, to);
			try {
				assertThat(RedisRateLimiter.of(redis, this.keyPrefix).tryAcquire(POLICY, ALICE).allowed()).isTrue();
			}
			finally {
				CLUSTER.endMove(slot, from, to);
			}
		}
		assertThat(CLUSTER.nodes()).allSatisfy((node) -> assertThat(node.admin().aclLog())
			.noneMatch((entry) -> entry.getUsername().equals(this.user)));
	}

	@Test
	void userWhoMayNotReadTheSlotsCanDoNothing() throws IOException {
		try (RedisConnections redis = connect()) {
			RedisRateLimiter limiter = RedisRateLimiter.of(redis, this.keyPrefix);
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(POLICY, ALICE));
		}
	}

	private RedisConnections connect(String... besides) throws IOException {
		List<String> rules = PermissionsIT.rules(this.keyPrefix, PermissionsIT.commands(Store.SCRIPTS), besides);
		CLUSTER.nodes().forEach((node) -> node.admin().aclSetUser(this.user, rules.toArray(String[]::new)));
		return CLUSTER.connections().config(PermissionsIT.config(this.user)).build();
	}

}
