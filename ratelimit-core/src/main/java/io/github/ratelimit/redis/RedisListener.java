package io.github.ratelimit.redis;

import java.time.Duration;

/**
 * Is notified of what {@link RedisConnections} see of Redis, for logs and metrics.
 * <p>
 * It is called by the threads that send and receive, so implementations must not block.
 * They must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface RedisListener {

	/**
	 * A server does not answer, or no connection can be made. From now on calls to it
	 * fail at once, until it answers.
	 * @param server the address of the server
	 * @param reason what was seen
	 */
	default void stoppedAnswering(String server, Throwable reason) {
	}

	/**
	 * A server answers again.
	 * @param server the address of the server
	 * @param outage how long it did not answer
	 */
	default void answersAgain(String server, Duration outage) {
	}

	/**
	 * A call was refused, because too many other calls wait for the server.
	 * @param server the address of the server
	 */
	default void queueFull(String server) {
	}

	/**
	 * A server has answered a batch of calls.
	 * @param server the address of the server
	 * @param calls number of decisions and other calls
	 * @param time from the first byte sent to the last byte received
	 */
	default void answered(String server, int calls, Duration time) {
	}

}
