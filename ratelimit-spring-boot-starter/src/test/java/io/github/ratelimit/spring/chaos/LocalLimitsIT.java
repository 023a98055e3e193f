package io.github.ratelimit.spring.chaos;

import java.util.List;

import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Several instances of an application without a Redis, each of which limits alone.
 */
class LocalLimitsIT {

	private static final int QUOTA = 100;

	private static final int INSTANCES = 3;

	@Test
	void instancesAdmitNoMoreThanTheQuotaTogether() {
		try (Fleet fleet = new Fleet(INSTANCES, "ratelimit.redis.url=redis://127.0.0.1:" + TestRedis.freePort(),
				"ratelimit.policies.api.limits=" + QUOTA + "/365d", "ratelimit.policies.api.on-store-failure=local",
				"ratelimit.instances=" + INSTANCES)) {
			List<String> users = List.of("alice", "bob");
			Traffic traffic = new Traffic(fleet.addresses(), users);
			try (traffic) {
				await().atMost(Trial.SOON).until(() -> traffic.denied() >= 20 * QUOTA);
			}
			assertThat(traffic.statuses()).containsExactlyInAnyOrder(200, 429);
			assertThat(users).allSatisfy((user) -> {
				assertThat(traffic.counted(user)).isZero();
				assertThat(traffic.uncounted(user)).isEqualTo(QUOTA / INSTANCES * INSTANCES).isLessThanOrEqualTo(QUOTA);
			});
			assertThat(fleet.reportsOutage()).isTrue();
		}
	}

}
