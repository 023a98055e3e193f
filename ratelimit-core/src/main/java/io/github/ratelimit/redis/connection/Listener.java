package io.github.ratelimit.redis.connection;

import java.time.Duration;

import redis.clients.jedis.exceptions.JedisException;

/**
 * Learns of what happens to the calls of a server, for metrics. Called by several
 * threads, which it must not keep waiting.
 */
public interface Listener {

	/** Does nothing. */
	Listener NONE = new Listener() {
	};

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

}
