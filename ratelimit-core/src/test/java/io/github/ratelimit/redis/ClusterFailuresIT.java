package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.test.ClusterProxies;
import io.github.ratelimit.test.StoreTest;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random requests over several nodes of a cluster, any of whose replies may be lost with
 * its connection: of reservations, corrections, blocks and refunds. What is counted then
 * may be more than what was allowed, but never less. The clock stands still.
 */
class ClusterFailuresIT extends StoreTest {

	private static final Logger logger = LoggerFactory.getLogger(ClusterFailuresIT.class);

	private static final int OPERATIONS = Integer.getInteger("ratelimit.cluster.failures", 600);

	private static final int OPERATIONS_OF_USERS = 40;

	private static final long QUOTA = 10;

	private static final List<Algorithm> ALGORITHMS = RedisFixture.algorithms().toList();

	private static final TestCluster CLUSTER = TestCluster.shared();

	@AutoClose
	private static final ClusterProxies PROXIES = new ClusterProxies(CLUSTER);

	/** Without faults, and patient, so that only wrong counts fail. */
	@AutoClose
	private static final RedisConnections REDIS = CLUSTER.connections().timeBudget(Duration.ofMinutes(5)).build();

	@AutoClose
	private static final RedisConnections BROKEN = CLUSTER.connections()
		.config(PROXIES.config())
		.connections(1)
		.build();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(REDIS, this.keyPrefix).withClock(this.clock);

	private final RedisRateLimiter broken = RedisRateLimiter.of(BROKEN, this.keyPrefix).withClock(this.clock);

	private final Random random = new Random(Long.getLong("ratelimit.cluster.seed", 23));

	private final Map<String, Integer> outcomes = new TreeMap<>();

	/** What was allowed, less what was refunded or may have been. */
	private final Map<List<Object>, Long> allowed = new HashMap<>();

	/** The charges that were counted for allowed requests, until they are refunded. */
	private final List<RateLimitRequest> refundable = new ArrayList<>();

	@Test
	void neverLessIsCountedThanWasAllowed() {
		List<Policy> policies = List.of();
		for (int user = 0, operation = 0; operation < OPERATIONS; user += 3) {
			List<Identifier> users = IntStream.range(user, user + 3).mapToObj((i) -> Identifier.user("u" + i)).toList();
			policies = (user % 12 == 0) ? List.of(policy("one"), policy("two")) : policies;
			RateLimitRequest all = RateLimitRequest.of(new Charge(policies.get(0), users, 1),
					new Charge(policies.get(1), users, 1));
			this.allowed.clear();
			this.refundable.clear();
			for (int i = 0; i < OPERATIONS_OF_USERS; i++, operation++) {
				String what = change(users, policies);
				for (LimitStatus status : this.limiter.peek(all).statuses()) {
					long counted = this.allowed.getOrDefault(key(status.policy(), status.identifier()), 0L);
					assertThat(counted).as("operation %d: %s", operation, what).isLessThanOrEqualTo(QUOTA);
					assertThat(status.remaining()).as("operation %d: %s: %s", operation, what, status)
						.isLessThanOrEqualTo(QUOTA - counted);
				}
			}
		}
		logger.info("Never less counted than allowed in {} operations: {}", OPERATIONS, this.outcomes);
		assertThat(this.outcomes).containsKeys("allowed", "denied", "failed", "refunded", "refund failed");
	}

	private Policy policy(String name) {
		Algorithm algorithm = ALGORITHMS.get(this.random.nextInt(ALGORITHMS.size()));
		Policy policy = new Policy(name, algorithm, List.of(new Limit(QUOTA, Duration.ofDays(1))),
				this.random.nextInt(4) > 0);
		return (this.random.nextInt(3) > 0) ? policy : policy.withPenalty(new Penalty(1 + this.random.nextInt(4),
				Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1), this.random.nextBoolean()));
	}

	private String change(List<Identifier> users, List<Policy> policies) {
		Identifier user = users.get(this.random.nextInt(users.size()));
		switch (this.random.nextInt(10)) {
			case 0 -> {
				this.limiter.block(user, this.random.nextBoolean() ? null : "one", Duration.ofDays(1), "");
				return "block " + user;
			}
			case 1, 2 -> {
				users.forEach((each) -> {
					this.limiter.unblock(each, null);
					policies.forEach((policy) -> this.limiter.unblock(each, policy.name()));
				});
				return "unblock";
			}
			case 3 -> {
				return refund();
			}
			default -> {
				return acquire(request(users, policies));
			}
		}
	}

	private RateLimitRequest request(List<Identifier> users, List<Policy> policies) {
		List<Charge> charges = new ArrayList<>();
		for (Policy policy : policies) {
			int from = this.random.nextInt(users.size());
			int to = from + 1 + this.random.nextInt(users.size() - from);
			long cost = (this.random.nextInt(12) > 0) ? this.random.nextInt(5) : QUOTA + 1;
			charges.add(new Charge(policy, users.subList(from, to), cost, this.random.nextInt(4) == 0));
		}
		return new RateLimitRequest(charges.subList(this.random.nextInt(2), 2));
	}

	private String acquire(RateLimitRequest request) {
		return ask(request, "failed", () -> {
			Decision decision = this.broken.tryAcquire(request);
			List<Charge> counted = request.charges()
				.stream()
				.filter((charge) -> !charge.shadow() || decision.shadow(charge).allowed())
				.toList();
			if (decision.allowed() && !counted.isEmpty()) {
				add(new RateLimitRequest(counted), 1);
				this.refundable.add(new RateLimitRequest(counted));
			}
			return decision.allowed() ? "allowed" : "denied";
		});
	}

	private String refund() {
		if (this.refundable.isEmpty()) {
			return "nothing to refund";
		}
		RateLimitRequest request = this.refundable.remove(this.random.nextInt(this.refundable.size()));
		add(request, -1);
		return ask(request, "refund failed", () -> {
			this.broken.refund(request);
			return "refunded";
		});
	}

	/** Perhaps a reply is lost. Returns what has happened. */
	private String ask(RateLimitRequest request, String failure, Supplier<String> question) {
		String fault = loseAReply();
		String outcome = failure;
		try {
			outcome = question.get();
		}
		catch (StoreException ex) {
			// Nobody knows what was counted.
		}
		this.outcomes.merge(outcome, 1, Integer::sum);
		return outcome + fault + ": " + request;
	}

	private void add(RateLimitRequest request, int times) {
		request.charges()
			.forEach((charge) -> charge.identifiers()
				.forEach((identifier) -> this.allowed.merge(key(charge.policy(), identifier), times * charge.cost(),
						Long::sum)));
	}

	private static List<Object> key(Policy policy, Identifier identifier) {
		return List.of(policy.name(), identifier);
	}

	private String loseAReply() {
		PROXIES.all().forEach((proxy) -> proxy.lose(0));
		if (this.random.nextInt(3) > 0) {
			return "";
		}
		int after = this.random.nextInt(3);
		PROXIES.of(CLUSTER.nodes().get(this.random.nextInt(3)).address()).loseAfter(after);
		return ", a reply lost after " + after;
	}

}
