package io.github.ratelimit.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a user of all nodes of a cluster must be allowed to do: exactly what the guide
 * says.
 */
class ClusterPermissionsIT {

	private static final TestCluster CLUSTER = TestCluster.shared();

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

	@ParameterizedTest
	@EnumSource(names = "SCRIPTS")
	void userOfDocumentationIsEnough(Store store) throws IOException {
		assertThat(Files.readString(PAGE).replace('\n', ' '))
			.contains("in a cluster `" + SLOTS + "` and `" + ASKING + "`");
		try (RedisConnections redis = connect(store, SLOTS, ASKING)) {
			store.operations(redis, this.keyPrefix).forEach(Runnable::run);
			Identifier alice = Identifier.user("alice");
			int slot = ClusterKeys.slot(alice);
			Node from = CLUSTER.master(slot);
			Node to = CLUSTER.otherMasters(slot).get(0);
			if (store == Store.SCRIPTS) {
				Policy policy = Policy.of("new", new FixedWindow(), Limit.parse("3/d"));
				TestCluster.beginToMove(slot, from, to);
				try {
					assertThat(RedisRateLimiter.of(redis, this.keyPrefix).tryAcquire(policy, alice).allowed()).isTrue();
				}
				finally {
					CLUSTER.endMove(slot, from, to);
				}
			}
		}
		assertThat(CLUSTER.nodes()).allSatisfy((node) -> assertThat(node.admin().aclLog())
			.noneMatch((entry) -> entry.getUsername().equals(this.user)));
	}

	@Test
	void userWhoMayNotReadTheSlotsCanDoNothing() throws IOException {
		try (RedisConnections redis = connect(Store.SCRIPTS)) {
			Policy policy = Policy.of("new", new FixedWindow(), Limit.parse("3/d"));
			RedisRateLimiter limiter = RedisRateLimiter.of(redis, this.keyPrefix);
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> limiter.tryAcquire(policy, Identifier.user("alice")));
		}
	}

	private RedisConnections connect(Store store, String... besides) throws IOException {
		List<String> rules = new ArrayList<>(List.of("on", ">secret", "~" + this.keyPrefix + ":*"));
		rules.addAll(PermissionsIT.commands(store));
		rules.addAll(List.of(besides));
		CLUSTER.nodes().forEach((node) -> node.admin().aclSetUser(this.user, rules.toArray(String[]::new)));
		return CLUSTER.connections()
			.config(DefaultJedisClientConfig.builder()
				.user(this.user)
				.password("secret")
				.clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
				.build())
			.build();
	}

}
