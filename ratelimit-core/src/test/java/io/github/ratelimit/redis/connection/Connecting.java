package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.function.Supplier;

import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.TestCluster;
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

	static final Runnable NOTHING = () -> {
	};

	private Connecting() {
	}

	/** Settings with the defaults of users. */
	public static ServerSettings settings(String name, Duration budget) {
		return new ServerSettings(name, budget, 2, 8192);
	}

	/** Asserts that something fails for a reason. */
	public static ThrowableAssertAlternative<CallException> assertFails(Reason reason, ThrowingCallable task) {
		return assertThatExceptionOfType(CallException.class).isThrownBy(task).returns(reason, CallException::reason);
	}

	/** Counts, or returns 0 if that fails. */
	public static long tryIt(Supplier<Increment> call) {
		try {
			return call.get().number();
		}
		catch (JedisException ex) {
			return 0;
		}
	}

	/** Waits until a busy machine connects in time. */
	public static void awaitAnswer(Servers servers, String key) {
		TestCluster.await("A call is answered", () -> tryIt(() -> Increment.submit(servers, Increment.LONG, key)) > 0);
	}

	static Server to(int port, Duration budget, Listener listener) {
		return to(port, settings("test", budget), listener);
	}

	static Server to(int port, ServerSettings settings, Listener listener) {
		return trusting(settings, source(port), listener);
	}

	/** Returns a server whose connections are not verified, however slow a test is. */
	static Server trusting(ServerSettings settings, ConnectionSource source, Listener listener) {
		return new Server(settings, source, listener, Long.MAX_VALUE);
	}

	static ConnectionSource source(int port) {
		return OwnConnections.to(new HostAndPort("127.0.0.1", port), DefaultJedisClientConfig.builder().build());
	}

}
