package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

import static io.github.ratelimit.redis.connection.LoginSource.login;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Sources of logins that hang, such as an HTTP client without a time-out. Interrupts are
 * all that ends them.
 */
@Timeout(120)
class HangingLoginIT {

	private static final ServerSettings SETTINGS = new ServerSettings("hangs", Duration.ofMillis(10), 2, 100,
			Duration.ZERO);

	private static final Duration SHORT = Duration.ofMillis(100);

	private static final JedisClientConfig NO_LOGIN = DefaultJedisClientConfig.builder().build();

	private final OwnRedis redis = new OwnRedis("user app on >old ~* +ping +incr");

	private final HostAndPort address = new HostAndPort("127.0.0.1", this.redis.port());

	private final LoginSource source = new LoginSource(login("app", "old"));

	private final JedisClientConfig config = DefaultJedisClientConfig.builder()
		.clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
		.credentialsProvider(this.source)
		.build();

	@AfterEach
	void stop() {
		this.redis.close();
	}

	private static void hang() {
		try {
			new CountDownLatch(1).await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw new IllegalStateException("interrupted");
	}

	/** Hangs for the first questions only. */
	private void hang(int questions) {
		this.source.next = () -> {
			if (this.source.asked.get() <= questions) {
				hang();
			}
			return login("app", "old");
		};
	}

	private ConnectionSource own(Duration limit) {
		return new OwnConnections((patience) -> this.address, this.config, new Login(this.config, Login.PAUSE, limit));
	}

	private static Server server(ConnectionSource source) {
		return new Server(SETTINGS, source, new Events());
	}

	private static String failure(Call call) {
		try {
			call.await();
			return "";
		}
		catch (JedisException ex) {
			return String.valueOf(ex.getCause());
		}
	}

	/** Three calls, so that some wait, which look at those that are sent. */
	private static void awaitFailure(Server server, String text) {
		TestCluster.await("It is told", () -> {
			List<Increment> calls = Stream.generate(() -> Increment.submit(server, Duration.ofMillis(10), "a"))
				.limit(3)
				.toList();
			return calls.stream().map(HangingLoginIT::failure).anyMatch((cause) -> cause.contains(text));
		});
	}

	@Test
	void hangingSourceIsToldAndHoldsNoOtherThread() {
		hang(Integer.MAX_VALUE);
		try (Server server = server(OwnConnections.to(this.address, this.config))) {
			awaitFailure(server, "source of the login");
			TestCluster.await("Two lanes and the probe wait", () -> this.source.asked.get() == 3);
		}
		TestCluster.await("Their threads end",
				() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().matches("ratelimit-(probe-)?hangs.*")));
	}

	/** Lanes wait for the sentinel then, not for the source. */
	@Test
	void hangingSourceOfTheLoginAtSentinelsIsTold() {
		hang(Integer.MAX_VALUE);
		try (Server server = server(OwnConnections.toMaster("main", Set.of(this.address), this.config, NO_LOGIN))) {
			awaitFailure(server, "source of the login");
		}
	}

	/** Two lanes and the probe have asked by then. */
	@Test
	void callsSucceedOnceASourceAnswersThatHung() {
		hang(3);
		try (Server server = server(own(SHORT))) {
			awaitFailure(server, "source of the login");
			TestCluster.await("A call succeeds",
					() -> failure(Increment.submit(server, Increment.LONG, "a")).isEmpty());
		}
	}

	@Test
	void questionThatTakesTooLongEndsAndLeavesNoInterrupt() {
		hang(1);
		Login login = new Login(this.config, Login.PAUSE, SHORT);
		assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(login::ask)
			.withMessage("The source of the login has not answered for PT0.1S")
			.withCauseInstanceOf(TimeoutException.class);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(login.ask().getUser()).isEqualTo("app");
	}

	/** A lane may be stuck in its connection meanwhile. */
	@Test
	void sourceThatIsAskedInTheBackgroundHoldsNoLane() {
		Login login = new Login(this.config, 0, Login.LIMIT);
		ConnectionSource own = new OwnConnections((patience) -> this.address, this.config, login);
		RedisCredentials used = login.ask();
		hang(Integer.MAX_VALUE);
		login.renew(null, used, System.nanoTime() + 1);
		TestCluster.await("It is asked", login::isAwaited);
		assertThat(own.awaitsLogin(Thread.currentThread())).isFalse();
		own.close();
	}

	/** Answers may cost money, and an error of the source would hide the true one. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void sourceIsNotAskedWhileNobodyIsThere(boolean sentinel) {
		HostAndPort nobody = new HostAndPort("127.0.0.1", TestRedis.freePort());
		try (Server server = server(sentinel ? OwnConnections.toMaster("main", Set.of(nobody), this.config, this.config)
				: OwnConnections.to(nobody, this.config))) {
			awaitFailure(server, sentinel ? "None of the sentinels" : "Failed to connect");
			assertThat(this.source.asked).hasValue(0);
		}
	}

}
