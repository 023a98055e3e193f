package io.github.ratelimit.redis;

import java.time.Duration;

/**
 * Is told what {@link RedisConnections} see of Redis, for logs and metrics.
 * <p>
 * The threads that send and receive call it, and do nothing else meanwhile:
 * implementations must not wait for anything. They must be safe for use by several
 * threads.
 *
 * @since 0.1
 */
public interface RedisListener {

	/**
	 * A server does not answer, or cannot be connected to. From now on calls for it fail
	 * at once, until it answers.
	 * @param server the address of the server
	 * @param reason what was seen
	 */
	default void stoppedAnswering(String server, Throwable reason) {
	}

	/**
	 * A server answers again.
	 * @param server the address of the server
	 * @param outage how long it did not
	 */
	default void answersAgain(String server, Duration outage) {
	}

	/**
	 * A call was refused, because too many others wait for the server.
	 * @param server the address of the server
	 */
	default void queueFull(String server) {
	}

	/**
	 * A server has answered some calls that were sent together.
	 * @param server the address of the server
	 * @param calls how many decisions and other calls
	 * @param time from the first byte sent to the last byte received
	 */
	default void answered(String server, int calls, Duration time) {
	}

}
