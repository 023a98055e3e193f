package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Threads of the limiter survive whatever is thrown in them, also errors, and checked
 * exceptions that are not declared, as in Kotlin.
 */
@Timeout(120)
class BackgroundThreadIT {

	private static final Duration BUDGET = Duration.ofMillis(300);

	private static final Duration LONG = Duration.ofSeconds(60);

	private final int port = TestRedis.freePort();

	private final Events events = new Events();

	/** How often something was done that fails. */
	private final AtomicInteger failed = new AtomicInteger();

	private volatile Throwable failure;

	/** Whether it fails only once, so that a new connection can be made. */
	private volatile boolean once;

	private RedisServer redis = TestRedis.startServer(this.port);

	@AfterEach
	void stop() {
		TestRedis.stop(this.redis);
	}

	static Stream<Throwable> failures() {
		return Stream.of(new IOException("No vault"), new NoClassDefFoundError("Vault"), new IllegalStateException());
	}

	@ParameterizedTest
	@MethodSource("failures")
	void outageEndsAlthoughThePasswordWasUnavailable(Throwable unavailable) {
		try (Server server = server()) {
			Increment.of(server, "a", LONG);
			TestRedis.stop(this.redis);
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
			this.events.await("opened", 1);
			this.failure = unavailable;
			this.redis = TestRedis.startServer(this.port);
			TestCluster.await("A probe has failed", () -> this.failed.get() > 0);
			this.failure = null;
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
	}

	@ParameterizedTest
	@MethodSource("failures")
	void callsFailAtOnceWhileThePasswordIsUnavailable(Throwable unavailable) {
		this.failure = unavailable;
		try (Server server = server()) {
			Connecting.assertNotSent(() -> Increment.of(server, "a", LONG))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.OUTAGE))
				.satisfies((ex) -> assertThat(ex).hasRootCause(unavailable));
			assertThat(this.failed.get()).isLessThan(10);
		}
	}

	private Server server() {
		var config = DefaultJedisClientConfig.builder().credentialsProvider(() -> {
			failIfBroken();
			return null;
		}).build();
		return new Server(Connecting.settings("test", BUDGET),
				OwnConnections.to(new HostAndPort("127.0.0.1", this.port), config), this.events);
	}

	private void failIfBroken() {
		Throwable present = this.failure;
		if (present != null) {
			this.failed.incrementAndGet();
			if (this.once) {
				this.failure = null;
			}
			BackgroundThreadIT.<RuntimeException>raise(present);
		}
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void raise(Throwable failure) throws T {
		throw (T) failure;
	}

	@Test
	void borrowedConnectionsAreReturnedWhateverFails() {
		try (ConnectionPool pool = pool(); Server server = borrowing(pool)) {
			Increment.of(server, "a", LONG);
			TestRedis.stop(this.redis);
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
			this.events.await("opened", 1);
			this.failure = new NoClassDefFoundError("Reply");
			this.redis = TestRedis.startServer(this.port);
			TestCluster.await("Some probes have failed", () -> this.failed.get() > 3);
			assertThat(pool.getNumActive()).isLessThanOrEqualTo(1);
			this.failure = null;
			this.events.await("closed", 1);
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
		}
	}

	/** What was not read would be the reply to a command of the application. */
	@Test
	void connectionWithUnreadRepliesIsNotUsedAgain() {
		try (ConnectionPool pool = pool(); Server server = borrowing(pool)) {
			assertThat(Increment.of(server, "a", LONG)).isEqualTo(1);
			TestCluster.await("It is given back", () -> pool.getNumActive() == 0);
			this.once = true;
			this.failure = new NoClassDefFoundError("Reply");
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a", LONG));
			for (int i = 0; i < 3; i++) {
				try (Connection connection = pool.getResource()) {
					assertThat(connection.executeCommand(new CommandArguments(Command.PING)))
						.isEqualTo("PONG".getBytes());
				}
			}
			assertThat(Increment.of(server, "b", LONG)).isEqualTo(1);
			assertThat(this.events.all()).isEmpty();
		}
	}

	private Server borrowing(ConnectionPool pool) {
		return Connecting.trusting(Connecting.settings("test", BUDGET),
				new BorrowedConnections(pool::getResource, List::of), this.events);
	}

	/** A pool of connections that may fail to read replies. */
	private ConnectionPool pool() {
		return new ConnectionPool(new BasePooledObjectFactory<>() {

			@Override
			public Connection create() {
				return new Connection(new HostAndPort("127.0.0.1", BackgroundThreadIT.this.port)) {

					@Override
					public List<Object> getMany(int count) {
						failIfBroken();
						return super.getMany(count);
					}

				};
			}

			@Override
			public PooledObject<Connection> wrap(Connection connection) {
				return new DefaultPooledObject<>(connection);
			}

			@Override
			public void destroyObject(PooledObject<Connection> pooled) {
				try {
					pooled.getObject().disconnect();
				}
				catch (JedisException ex) {
					// It is broken.
				}
			}

		});
	}

}
