package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.test.CapturedLog;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.authentication.core.SimpleToken;
import redis.clients.authentication.core.TokenAuthConfig;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.authentication.AuthXManager;
import redis.clients.jedis.exceptions.JedisException;

import static io.github.ratelimit.redis.connection.LoginSource.login;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Logins that change while connections are used: another password, another user, tokens.
 */
@Timeout(120)
class LoginIT {

	/** So that a source is asked again with each call. */
	private static final long ALWAYS = 0;

	/** Users need no permission to log in again. */
	private final OwnRedis redis = new OwnRedis("user app on >old ~* +ping +incr", "user other on >secret ~* +incr");

	private final Jedis admin = new Jedis("127.0.0.1", this.redis.port());

	private final Events events = new Events();

	@RegisterExtension
	final CapturedLog log = new CapturedLog(Login.class);

	private final LoginSource source = new LoginSource(login("app", "old"));

	@BeforeEach
	void forgetLog() {
		this.admin.aclLogReset();
	}

	@AfterEach
	void stop() {
		this.admin.close();
		this.redis.close();
	}

	private Server server(JedisClientConfig config, long pause) {
		return Connecting.trusting(new ServerSettings("login", Increment.LONG, 1, 100),
				new OwnConnections((patience) -> new HostAndPort("127.0.0.1", this.redis.port()), config,
						new Login(config, pause, Login.LIMIT)),
				this.events);
	}

	private Server server(long pause) {
		return server(config().credentialsProvider(this.source).build(), pause);
	}

	/** Other commands at the beginning of a connection need permissions. */
	private static DefaultJedisClientConfig.Builder config() {
		return DefaultJedisClientConfig.builder().clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
	}

	/** Returns the user of each connection but that of this test. */
	private Map<String, String> users() {
		return this.admin.clientList()
			.lines()
			.filter((client) -> !client.contains("cmd=client"))
			.collect(Collectors.toMap(field("id"), field("user")));
	}

	private static Function<String, String> field(String name) {
		return (client) -> client.replaceAll("(^|.* )" + name + "=(\\S*).*", "$2");
	}

	private static void awaitWhileUsed(Server server, Supplier<Boolean> condition) {
		TestCluster.await("It happens while calls are answered",
				() -> Increment.of(server, "a") > 0 && condition.get());
	}

	@Test
	void openConnectionLogsInAgainWhenTheLoginChanges() {
		try (Server server = server(ALWAYS)) {
			Increment.of(server, "a");
			String connection = users().keySet().iterator().next();
			assertThat(users()).containsExactly(Map.entry(connection, "app"));
			this.source.set(login("other", "secret"));
			awaitWhileUsed(server, () -> users().containsValue("other"));
			assertThat(users()).containsExactly(Map.entry(connection, "other"));
			assertThat(this.events.all()).isEmpty();
		}
	}

	/**
	 * As where passwords are changed in the store of secrets first, and then in Redis.
	 */
	@Test
	void openConnectionStaysWhenRedisRefusesNewLogin() {
		try (Server server = server(ALWAYS)) {
			Increment.of(server, "a");
			Map<String, String> before = users();
			this.source.set(login("app", "new"));
			awaitWhileUsed(server, () -> !this.admin.aclLog().isEmpty());
			for (int i = 0; i < 10; i++) {
				Increment.of(server, "a");
			}
			assertThat(this.admin.aclLog()).as("one attempt").singleElement().returns(1L, (entry) -> entry.getCount());
			assertThat(users()).isEqualTo(before);
			assertThat(this.events.all()).isEmpty();
		}
	}

	@Test
	void connectionsAreMadeAgainOnceNewPasswordIsKnown() {
		try (Server server = server(Long.MAX_VALUE)) {
			Increment.of(server, "a");
			this.admin.aclSetUser("app", ">new", "<old");
			this.admin.sendCommand(Command.CLIENT, "KILL", "USER", "app");
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a"))
				.withStackTraceContaining(
						"WRONGPASS invalid username-password pair or user is disabled. Are the name and the password of the user right now?");
			this.events.await("opened", 1);
			this.source.set(login("app", "new"));
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "a")).isPositive();
		}
	}

	@Test
	void tokensAreRenewedOnOpenConnections() {
		CompletableFuture<SimpleToken> second = new CompletableFuture<>();
		AtomicReference<Supplier<SimpleToken>> next = new AtomicReference<>(second::join);
		next.set(() -> {
			next.set(second::join);
			return token("app", "old", 1);
		});
		AuthXManager manager = new AuthXManager(tokens(() -> next.get().get()));
		try (Server server = server(config().authXManager(manager).build(), ALWAYS)) {
			Increment.of(server, "a");
			Map<String, String> before = users();
			assertThat(before).containsValue("app");
			second.complete(token("other", "secret", Increment.LONG.toMillis() * 1000));
			awaitWhileUsed(server, () -> users().containsValue("other"));
			assertThat(users().keySet()).isEqualTo(before.keySet());
		}
		finally {
			manager.stop();
		}
	}

	private static TokenAuthConfig tokens(Supplier<SimpleToken> source) {
		return TokenAuthConfig.builder()
			.identityProviderConfig(() -> source::get)
			.expirationRefreshRatio(0.5f)
			.lowerRefreshBoundMillis(1000)
			.tokenRequestExecTimeoutInMs((int) Increment.LONG.toMillis())
			.build();
	}

	private static SimpleToken token(String user, String value, long millis) {
		long now = System.currentTimeMillis();
		return new SimpleToken(user, value, now + millis, now, Map.of());
	}

	/** Nor is it asked once more meanwhile. */
	@Test
	void sourceThatHangsOrFailsKeepsNoCallWaiting() {
		CompletableFuture<RedisCredentials> hanging = new CompletableFuture<>();
		AtomicInteger failed = new AtomicInteger();
		try (Server server = server(ALWAYS)) {
			Increment.of(server, "a");
			int before = this.source.asked.get();
			this.source.next = hanging::join;
			awaitWhileUsed(server, () -> this.source.asked.get() > before);
			int asked = this.source.asked.get();
			for (int i = 0; i < 10; i++) {
				Increment.of(server, "a");
			}
			assertThat(this.source.asked).hasValue(asked);
			this.source.next = () -> {
				failed.incrementAndGet();
				throw new IllegalStateException("no secrets");
			};
			hanging.complete(login("app", "old"));
			awaitWhileUsed(server, () -> failed.get() > 1);
			this.source.set(login("other", "secret"));
			awaitWhileUsed(server, () -> users().containsValue("other"));
		}
	}

	@Test
	void sourceIsAskedForEachConnectionAndOnceAMinute() {
		JedisClientConfig config = config().credentialsProvider(this.source).build();
		Login login = new Login(config);
		RedisCredentials used = login.ask();
		assertThat(login.ask()).isSameAs(used);
		long asked = System.nanoTime();
		login.renew(null, used, asked + Duration.ofSeconds(59).toNanos());
		assertThat(this.source.asked).hasValue(2);
		login.renew(null, used, asked + Duration.ofSeconds(61).toNanos());
		TestCluster.await("It is asked", () -> this.source.asked.get() == 3);
	}

	@Test
	void disconnectAwaitsTheSourceThatIsAskedInTheBackground() throws InterruptedException {
		CompletableFuture<RedisCredentials> hanging = new CompletableFuture<>();
		try (Server server = server(ALWAYS)) {
			Increment.of(server, "a");
			int before = this.source.asked.get();
			this.source.next = hanging::join;
			awaitWhileUsed(server, () -> this.source.asked.get() > before);
			Thread disconnect = new Thread(server::disconnect);
			disconnect.start();
			TestCluster.await("It waits for the source", () -> Stream.of(disconnect.getStackTrace())
				.anyMatch((frame) -> frame.getClassName().equals(Login.class.getName())));
			hanging.complete(login("app", "old"));
			disconnect.join();
		}
	}

	/** As while a file of {@code configtree:} is replaced. */
	@ParameterizedTest
	@CsvSource({ "1, old, 0", "2, '', 1" })
	void missingPasswordIsAskedForAgainAtOnce(int missing, String used, int warnings) {
		Login login = new Login(config().credentialsProvider(this.source).build());
		login.ask();
		AtomicInteger times = new AtomicInteger();
		this.source.next = () -> login("app", (times.incrementAndGet() > missing) ? "old" : "");
		assertThat(login.ask().getPassword()).containsExactly(used.toCharArray());
		assertThat(this.source.asked).hasValue(3);
		assertThat(this.log.lines()).filteredOn((line) -> line.contains("has no password any more")).hasSize(warnings);
		// A server may need none since.
		assertThat(login.ask().getPassword()).containsExactly("old".toCharArray());
	}

	/** As of lanes that connect again at once. */
	@Test
	void missingPasswordIsToldOnceWhenManyAsk() {
		Login login = new Login(config().credentialsProvider(this.source).build());
		login.ask();
		CyclicBarrier both = new CyclicBarrier(2);
		this.source.next = () -> {
			try {
				both.await();
			}
			catch (InterruptedException | BrokenBarrierException ex) {
				throw new IllegalStateException(ex);
			}
			return login("app", "");
		};
		CompletableFuture<RedisCredentials> other = CompletableFuture.supplyAsync(login::ask,
				BackgroundThread.each("other"));
		assertThat(login.ask()).isSameAs(other.join());
		assertThat(this.log.lines()).filteredOn((line) -> line.contains("has no password any more")).hasSize(1);
	}

	/** Also one that nobody has started, at which Jedis fails. */
	@Test
	void closingStopsTheManagersOfTokens() {
		List<AuthXManager> managers = Stream
			.generate(() -> new AuthXManager(tokens(() -> token("app", "old", Increment.LONG.toMillis()))))
			.limit(2)
			.toList();
		managers.get(0).start();
		RedisConnections
			.sentinel("main", Set.of(new HostAndPort("127.0.0.1", 1)), config().authXManager(managers.get(0)).build())
			.config(config().authXManager(managers.get(1)).build())
			.build()
			.close();
		assertThat(managers).extracting("tokenManager.stopped").containsOnly(true);
	}

}
