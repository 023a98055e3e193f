package io.github.ratelimit.redis.connection;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.TestCluster;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Threads of the limiter survive whatever is thrown in them, also errors, and checked
 * exceptions that are not declared, as in Kotlin.
 */
@Timeout(120)
class BackgroundThreadIT {

	private static final ServerSettings SETTINGS = Connecting.settings("test", Duration.ofMillis(300));

	private final OwnRedis redis = new OwnRedis();

	private final HostAndPort address = new HostAndPort("127.0.0.1", this.redis.port());

	private final Events events = new Events();

	/** How often something was done that fails. */
	private final AtomicInteger failed = new AtomicInteger();

	private volatile Throwable failure;

	/** Whether it fails only once, so that a new connection can be made. */
	private volatile boolean once;

	@AfterEach
	void stop() {
		this.redis.close();
	}

	static Stream<Throwable> failures() {
		return Stream.of(new IOException("No vault"), new NoClassDefFoundError("Vault"), new IllegalStateException());
	}

	@ParameterizedTest
	@MethodSource("failures")
	void outageEndsAlthoughThePasswordWasUnavailable(Throwable unavailable) {
		try (Server server = server()) {
			restart(server, unavailable, 1, Connecting.NOTHING);
			assertThat(this.events.all()).containsExactly("opened", "closed");
		}
	}

	/** Restarts Redis, and lets some probes of it fail. */
	private void restart(Server server, Throwable failure, int probes, Runnable check) {
		Increment.of(server, "a");
		this.redis.stop();
		assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a"));
		this.events.await("opened", 1);
		this.failure = failure;
		this.redis.start();
		TestCluster.await("Some probes have failed", () -> this.failed.get() >= probes);
		check.run();
		this.failure = null;
		this.events.await("closed", 1);
		assertThat(Increment.of(server, "a")).isEqualTo(1);
	}

	@ParameterizedTest
	@MethodSource("failures")
	void callsFailAtOnceWhileThePasswordIsUnavailable(Throwable unavailable) {
		this.failure = unavailable;
		try (Server server = server()) {
			Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(server, "a"))
				.satisfies((ex) -> assertThat(ex).hasRootCause(unavailable));
			assertThat(this.failed.get()).isLessThan(10);
		}
	}

	private Server server() {
		var config = DefaultJedisClientConfig.builder().credentialsProvider(() -> {
			failIfBroken();
			return null;
		}).build();
		return new Server(SETTINGS, OwnConnections.to(this.address, config), this.events);
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
			restart(server, new NoClassDefFoundError("Reply"), 4,
					() -> assertThat(pool.getNumActive()).isLessThanOrEqualTo(1));
		}
	}

	/** What was not read would be the reply to a command of the application. */
	@Test
	void connectionWithUnreadRepliesIsNotUsedAgain() {
		try (ConnectionPool pool = pool(); Server server = borrowing(pool)) {
			assertThat(Increment.of(server, "a")).isEqualTo(1);
			TestCluster.await("It is given back", () -> pool.getNumActive() == 0);
			this.once = true;
			this.failure = new NoClassDefFoundError("Reply");
			assertThatExceptionOfType(JedisException.class).isThrownBy(() -> Increment.of(server, "a"));
			for (int i = 0; i < 3; i++) {
				try (Connection connection = pool.getResource()) {
					assertThat(connection.ping()).isTrue();
				}
			}
			assertThat(Increment.of(server, "b")).isEqualTo(1);
			assertThat(this.events.all()).isEmpty();
		}
	}

	private Server borrowing(ConnectionPool pool) {
		return Connecting.trusting(SETTINGS, new BorrowedConnections(pool::getResource, List::of), this.events);
	}

	/** A pool of connections that may fail to read replies. */
	private ConnectionPool pool() {
		return new ConnectionPool(new ConnectionFactory(this.address) {

			@Override
			public PooledObject<Connection> makeObject() {
				return new DefaultPooledObject<>(new Connection(BackgroundThreadIT.this.address) {

					@Override
					public List<Object> getMany(int count) {
						failIfBroken();
						return super.getMany(count);
					}

				});
			}

		});
	}

}
