package io.github.ratelimit.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
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
class PermissionsIT {

	private static final Path PAGE = Path.of("..", "docs", "redis.md");

	/** How the lines of the documentation begin. */
	private static final List<String> BEGINNING = List.of("ACL", "SETUSER", "ratelimit", "on", ">PASSWORD",
			"~ratelimit:*");

	/** More than are read whole. */
	private static final int LARGE = 2000;

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final List<String> users = new ArrayList<>();

	private final Jedis admin = new Jedis(TestRedis.uri());

	/** A store, in the order of the documentation. */
	enum Store {

		SCRIPTS {
			@Override
			List<Runnable> operations(RedisConnections redis, String keyPrefix) {
				RedisRateLimiter limiter = RedisRateLimiter.of(redis, keyPrefix);
				List<Runnable> operations = PermissionsIT.operations(limiter, Algorithms.all());
				Identifier blocked = Identifier.user("blocked");
				Policy windows = Policy.of("windows", new FixedWindow(10, ZoneOffset.UTC), Limit.parse("10/365d"));
				operations.add(() -> limiter.block(blocked, null, Duration.ofHours(1), "reason"));
				operations.add(limiter::blocks);
				operations.add(() -> limiter.unblock(blocked, null));
				operations.add(() -> limiter.series(windows, blocked));
				operations.add(() -> limiter.entries(large(), blocked));
				operations.add(() -> limiter.tryAcquire(large(), Identifier.GLOBAL));
				// A script that was forgotten is loaded to stay.
				operations.add(TestRedis.client()::scriptFlush);
				operations.add(() -> limiter.tryAcquire(large(), Identifier.GLOBAL));
				return operations;
			}
		},

		PLAIN_COMMANDS {
			@Override
			List<Runnable> operations(RedisConnections redis, String keyPrefix) {
				return PermissionsIT.operations(PipelineRateLimiter.of(redis, keyPrefix),
						PipelineRateLimiterIT.algorithms().toList());
			}
		};

		abstract List<Runnable> operations(RedisConnections redis, String keyPrefix);

	}

	private static Policy large() {
		return Policy.of("large", new SlidingLog(), Limit.parse("100000/365d"));
	}

	static List<Runnable> operations(RateLimiter limiter, List<Algorithm> algorithms) {
		List<Runnable> operations = new ArrayList<>();
		for (Algorithm algorithm : algorithms) {
			Policy policy = Policy.of("api", algorithm, Limit.parse("3/365d"));
			RateLimitRequest request = RateLimitRequest.of(policy, Identifier.user("alice"));
			operations.add(() -> limiter.reset(policy, Identifier.user("alice")));
			operations.add(() -> limiter.refund(request));
			operations.add(() -> limiter.tryAcquire(request));
			operations.add(() -> limiter.refund(request));
			operations.add(() -> limiter.charge(request));
			operations.add(() -> limiter.tryAcquire(policy, Identifier.user("alice"), 3));
			operations.add(() -> limiter.peek(request));
		}
		return operations;
	}

	@AfterEach
	void deleteUsers() {
		this.users.forEach(this.admin::aclDelUser);
		this.admin.close();
	}

	@ParameterizedTest
	@EnumSource
	void userOfDocumentationIsEnough(Store store) throws IOException {
		List<String> commands = commands(store);
		String user = user(commands);
		try (RedisConnections redis = connect(user)) {
			this.admin.scriptFlush();
			store.operations(redis, this.keyPrefix).forEach(Runnable::run);
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
					store.operations(redis, this.keyPrefix).forEach(PermissionsIT::attempt);
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
		List<String> rules = rules(commands(Store.SCRIPTS));
		Policy policy = Policy.of("new", new FixedWindow(), Limit.parse("3/d"));
		Identifier alice = Identifier.user("alice");
		int slot = ClusterKeys.slot(alice);
		Node from = cluster.master(slot);
		Node to = cluster.otherMasters(slot).get(0);
		String user = "user-" + this.keyPrefix;
		cluster.nodes().forEach((node) -> node.admin().aclSetUser(user, rules.toArray(String[]::new)));
		try (RedisConnections redis = cluster.connections().config(config(user)).build()) {
			// Who may not read the slots can do nothing.
			assertThatExceptionOfType(StoreException.class)
				.isThrownBy(() -> RedisRateLimiter.of(redis, this.keyPrefix).tryAcquire(policy, alice));
		}
		cluster.nodes().forEach((node) -> {
			node.admin().aclSetUser(user, "+cluster|slots", "+asking");
			node.admin().aclLogReset();
		});
		try (RedisConnections redis = cluster.connections().config(config(user)).build()) {
			Store.SCRIPTS.operations(redis, this.keyPrefix).forEach(Runnable::run);
			TestCluster.beginToMove(slot, from, to);
			try {
				assertThat(RedisRateLimiter.of(redis, this.keyPrefix).tryAcquire(policy, alice).allowed()).isTrue();
			}
			finally {
				cluster.endMove(slot, from, to);
			}
		}
		assertThat(cluster.nodes()).allSatisfy(
				(node) -> assertThat(node.admin().aclLog()).noneMatch((entry) -> entry.getUsername().equals(user)));
		cluster.nodes().forEach((node) -> node.admin().aclDelUser(user));
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

	@BeforeEach
	void fillLog() {
		RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);
		for (int i = 0; i < LARGE; i++) {
			limiter.tryAcquire(large(), Identifier.GLOBAL);
		}
	}

	/** Creates a user who may use these commands. */
	private String user(List<String> commands) {
		String user = "user-" + this.keyPrefix + "-" + this.users.size();
		this.users.add(user);
		this.admin.aclSetUser(user, rules(commands).toArray(String[]::new));
		return user;
	}

	private List<String> rules(List<String> commands) {
		return Stream.concat(Stream.of("on", ">secret", "~" + this.keyPrefix + ":*"), commands.stream()).toList();
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

	/** What the documentation allows a user of a store. */
	private static List<String> commands(Store store) throws IOException {
		List<List<String>> lines = Files.readAllLines(PAGE)
			.stream()
			.map((line) -> Arrays.asList(line.split(" ")))
			.filter((words) -> words.size() > BEGINNING.size() && words.subList(0, BEGINNING.size()).equals(BEGINNING))
			.toList();
		assertThat(lines).hasSameSizeAs(Store.values());
		List<String> words = lines.get(store.ordinal());
		return words.subList(BEGINNING.size(), words.size());
	}

}
