package io.github.ratelimit.redis;

import java.time.Duration;

/**
 * Is notified of what {@link RedisConnections} see of Redis, for logs and metrics.
 * <p>
 * It is called by the threads that send and receive, so implementations must not block.
 * They must be safe for use by several threads.
 */
public interface RedisListener {

	/**
	 * A server, by its address, does not answer, or no connection can be made. From now
	 * on calls to it fail at once, until it answers.
	 */
	default void stoppedAnswering(String server, Throwable reason) {
	}

	/** A server answers again, after an outage of that length. */
	default void answersAgain(String server, Duration outage) {
	}

	/** A call was refused, because too many other calls wait for the server. */
	default void queueFull(String server) {
	}

	/**
	 * A server has answered a batch of calls.
	 * @param time from the first byte sent to the last byte received
	 */
	default void answered(String server, int calls, Duration time) {
	}

}
