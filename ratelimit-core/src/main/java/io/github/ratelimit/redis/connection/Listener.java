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

	/**
	 * The server counts as gone from now on, and calls fail at once.
	 * @param cause what has shown it
	 */
	default void opened(JedisException cause) {
	}

	/**
	 * The server has answered again.
	 * @param duration for how long it counted as gone
	 */
	default void closed(Duration duration) {
	}

	/** A call was refused, because too many others wait. */
	default void overloaded() {
	}

	/**
	 * Calls were sent together and answered.
	 * @param calls how many
	 * @param nanos the time from sending them to the last answer, in nanoseconds
	 */
	default void batch(int calls, long nanos) {
	}

	/**
	 * The server is a node of a cluster, and has not done some calls, because their slot
	 * is elsewhere. They fail unless somebody knows that node: {@link Call#takeBack} each
	 * call, and submit it there if somebody still waits for it.
	 * @param calls calls of one carrier and slot, which were sent here
	 * @param redirection what the node has answered
	 */
	default void redirected(List<Call> calls, JedisRedirectionException redirection) {
		calls.forEach((call) -> call.fail(redirection));
	}

}
