package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicLong;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TricklingServer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Connects to servers of tests.
 */
public final class Connecting {

	/** Learns of nothing. */
	public static final Listener NOBODY = new Listener() {
	};

	private Connecting() {
	}

	/** Settings with the defaults of users. */
	public static ServerSettings settings(String name, Duration budget) {
		return new ServerSettings(name, budget, 2, 8192);
	}

	/** Asserts that something fails because a call was not sent. */
	public static ThrowableAssertAlternative<CallException> assertNotSent(ThrowingCallable task) {
		return assertThatExceptionOfType(CallException.class).isThrownBy(task).matches(Connecting::isNotSent);
	}

	/** Asserts that something fails for a reason. */
	public static ThrowableAssertAlternative<CallException> assertFails(Reason reason, ThrowingCallable task) {
		return assertThatExceptionOfType(CallException.class).isThrownBy(task).returns(reason, CallException::reason);
	}

	/** Whether something is the failure of a call that was not sent. */
	static boolean isNotSent(Object outcome) {
		return outcome instanceof CallException failure
				&& EnumSet.of(Reason.TOO_LATE, Reason.QUEUE_FULL, Reason.OUTAGE).contains(failure.reason());
	}

	/** Counts as soon as a busy machine connects in time, and returns the count. */
	static long awaitAnswer(Servers servers) {
		AtomicLong count = new AtomicLong();
		TestCluster.await("A call is answered", () -> {
			try {
				count.set(Increment.of(servers, "a", Duration.ofSeconds(60)));
				return true;
			}
			catch (JedisException ex) {
				return false;
			}
		});
		return count.get();
	}

	static Server to(int port, Duration budget, Listener listener) {
		return to(port, settings("test", budget), listener);
	}

	static Server to(int port, ServerSettings settings, Listener listener) {
		return trusting(settings, source("127.0.0.1", port), listener);
	}

	/** Returns a server whose connections are not verified, however slow a test is. */
	static Server trusting(ServerSettings settings, ConnectionSource source, Listener listener) {
		return new Server(settings, source, listener, Long.MAX_VALUE);
	}

	/** Connects to a server that answers logins only. */
	static Server toTrickling(TricklingServer slow, Duration budget, Listener listener) {
		Server server = to(slow.port(), settings("slow", budget), listener);
		// A call that is too late to be sent makes a connection.
		assertNotSent(() -> Increment.of(server, "a", Duration.ZERO));
		TestCluster.await("There is a connection", server::isInUse);
		return server;
	}

	static ConnectionSource source(String host, int port) {
		return OwnConnections.to(new HostAndPort(host, port), DefaultJedisClientConfig.builder().build());
	}

}
