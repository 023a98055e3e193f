package io.github.ratelimit.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.test.PipelineContract;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestCluster.Node;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a user of Redis must be allowed to do: exactly what the documentation says.
 */
class PermissionsIT extends RedisFixture {

	private static final Path PAGE = Path.of("..", "docs", "redis.md");

	/** How the lines of the documentation begin. */
	private static final String BEGINNING = "ACL SETUSER ratelimit on >PASSWORD ~ratelimit:* ";

	private static final Policy LARGE = policy("large", new SlidingLog(), "100000/365d");

	private final List<String> users = new ArrayList<>();

	private final Jedis admin = new Jedis(TestRedis.uri());

	/** In the order of the documentation. */
	enum Store {

		SCRIPTS, PLAIN_COMMANDS

	}

	/** More requests than are read whole. */
	@BeforeEach
	void fillLog() {
		for (int i = 0; i < 2000; i++) {
			this.limiter.tryAcquire(LARGE, Identifier.GLOBAL);
		}
	}

	@AfterEach
	void deleteUsers() {
		this.users.forEach(this.admin::aclDelUser);
		this.admin.close();
	}

	private List<Runnable> operations(Store store, RedisConnections redis) {
		if (store == Store.PLAIN_COMMANDS) {
			return operations(PipelineRateLimiter.of(redis, this.keyPrefix), PipelineContract.algorithms().toList());
		}
		RedisRateLimiter limiter = RedisRateLimiter.of(redis, this.keyPrefix);
		Policy windows = policy("windows", new FixedWindow(10, ZoneOffset.UTC), "10/365d");
		List<Runnable> operations = operations(limiter, Algorithms.all());
		// A script that was forgotten is loaded to stay.
		operations.addAll(List.of(() -> limiter.block(ADDRESS, null, Duration.ofHours(1), "reason"), limiter::blocks,
				() -> limiter.unblock(ADDRESS, null), () -> limiter.series(windows, ADDRESS),
				() -> limiter.entries(LARGE, ADDRESS), () -> limiter.tryAcquire(LARGE, Identifier.GLOBAL),
				this.jedis::scriptFlush, () -> limiter.tryAcquire(LARGE, Identifier.GLOBAL)));
		return operations;
	}

	private static List<Runnable> operations(RateLimiter limiter, List<Algorithm> algorithms) {
		List<Runnable> operations = new ArrayList<>();
		for (Algorithm algorithm : algorithms) {
			Policy policy = policy(algorithm, "3/365d");
			RateLimitRequest request = request(policy, 1);
			operations.addAll(List.of(() -> limiter.reset(policy, ALICE), () -> limiter.refund(request),
					() -> limiter.tryAcquire(request), () -> limiter.refund(request), () -> limiter.charge(request),
					() -> limiter.tryAcquire(policy, ALICE, 3), () -> limiter.peek(request)));
		}
		return operations;
	}

	@ParameterizedTest
	@EnumSource
	void userOfDocumentationIsEnough(Store store) throws IOException {
		String user = user(commands(store));
		try (RedisConnections redis = connect(user)) {
			this.admin.scriptFlush();
			operations(store, redis).forEach(Runnable::run);
		}
		assertThat(refused(user)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void userOfDocumentationMayDoNothingElse(Store store) throws IOException {
		List<String> commands = commands(store);
		for (String command : commands) {
			// Idle connections are asked whether they live, by the pool of Jedis.
			if (!command.equals("+ping")) {
				String user = user(commands.stream().filter((other) -> !other.equals(command)).toList());
				try (RedisConnections redis = connect(user)) {
					this.admin.scriptFlush();
					operations(store, redis).forEach(PermissionsIT::attempt);
				}
				assertThat(refused(user)).as("without " + command)
					.containsExactly(withoutSubcommand(command.substring(1)));
			}
		}
	}

	@Test
	void userOfDocumentationIsEnoughInACluster() throws IOException {
		assertThat(Files.readString(PAGE).replace('\n', ' ')).contains("in a cluster `+cluster|slots` and `+asking`");
		TestCluster cluster = TestCluster.shared();
		String[] rules = rules(commands(Store.SCRIPTS));
		Policy policy = policy("new", new FixedWindow(), "3/d");
		int slot = ClusterKeys.slot(ALICE);
		Node from = cluster.master(slot);
		Node to = cluster.otherMasters(slot).get(0);
		String user = "user-" + this.keyPrefix;
		cluster.nodes().forEach((node) -> node.admin().aclSetUser(user, rules));
		try (RedisConnections redis = cluster.connections().config(config(user)).build()) {
			// Who may not read the slots can do nothing.
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> RedisRateLimiter.of(redis, this.keyPrefix).tryAcquire(policy, ALICE));
		}
		cluster.nodes().forEach((node) -> {
			node.admin().aclSetUser(user, "+cluster|slots", "+asking");
			node.admin().aclLogReset();
		});
		try (RedisConnections redis = cluster.connections().config(config(user)).build()) {
			operations(Store.SCRIPTS, redis).forEach(Runnable::run);
			TestCluster.beginToMove(slot, from, to);
			try {
				assertThat(RedisRateLimiter.of(redis, this.keyPrefix).tryAcquire(policy, ALICE).allowed()).isTrue();
			}
			finally {
				cluster.endMove(slot, from, to);
			}
		}
		cluster.nodes().forEach((node) -> {
			assertThat(node.admin().aclLog()).noneMatch((entry) -> entry.getUsername().equals(user));
			node.admin().aclDelUser(user);
		});
	}

	/** Not every refusal is one of the operation: some only clean up. */
	private static void attempt(Runnable operation) {
		try {
			operation.run();
		}
		catch (RuntimeException ex) {
			// The server knows what it has refused.
		}
	}

	private Set<String> refused(String user) {
		return this.admin.aclLog()
			.stream()
			.filter((entry) -> entry.getUsername().equals(user))
			.map((entry) -> withoutSubcommand(entry.getObject()))
			.collect(Collectors.toSet());
	}

	/** Only recent servers log it. */
	private static String withoutSubcommand(String command) {
		return command.replaceFirst("\\|.*", "");
	}

	private String user(List<String> commands) {
		String user = "user-" + this.keyPrefix + "-" + this.users.size();
		this.users.add(user);
		this.admin.aclSetUser(user, rules(commands));
		return user;
	}

	private String[] rules(List<String> commands) {
		return Stream.concat(Stream.of("on", ">secret", "~" + this.keyPrefix + ":*"), commands.stream())
			.toArray(String[]::new);
	}

	private static JedisClientConfig config(String user) {
		return DefaultJedisClientConfig.builder()
			.user(user)
			.password("secret")
			.clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
			.build();
	}

	private static RedisConnections connect(String user) {
		return TestRedis.connections(TestRedis.uri()).config(config(user)).build();
	}

	private static List<String> commands(Store store) throws IOException {
		List<String> lines = Files.readAllLines(PAGE).stream().filter((line) -> line.startsWith(BEGINNING)).toList();
		assertThat(lines).hasSameSizeAs(Store.values());
		return List.of(lines.get(store.ordinal()).substring(BEGINNING.length()).split(" "));
	}

}
