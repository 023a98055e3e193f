package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;

import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * Learns of what happens to the calls of a server, for metrics and to send them on.
 * Called by several threads, which it must not keep waiting.
 */
public interface Listener {

	/** The server counts as gone from now on, and calls fail at once. */
	default void opened(JedisException cause) {
	}

	/** The server has answered again, after some time. */
	default void closed(Duration duration) {
	}

	/** A call was refused, because too many others wait. */
	default void overloaded() {
	}

	/** Calls were sent together and answered, in some nanoseconds. */
	default void batch(int calls, long nanos) {
	}

	/**
	 * The server is a node of a cluster, and has not done some calls of one carrier and
	 * slot, because the slot is elsewhere. They fail unless somebody knows that node:
	 * {@link Call#takeBack} each call, and submit it there if somebody still waits for
	 * it.
	 */
	default void redirected(List<Call> calls, JedisRedirectionException redirection) {
		calls.forEach((call) -> call.fail(redirection));
	}

}
