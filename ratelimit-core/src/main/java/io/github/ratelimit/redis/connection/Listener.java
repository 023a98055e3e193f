package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;

import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * Is notified of what happens to the calls of a server. Called by several threads, which
 * it must not block.
 */
public interface Listener {

	/** The server has become unavailable. From now on calls fail at once. */
	default void opened(JedisException cause) {
	}

	/** The server answers again, after an outage of that length. */
	default void closed(Duration duration) {
	}

	/** The server says that it is not the right one: new connections are made. */
	default void left() {
	}

	/** A call was refused, because too many other calls wait. */
	default void overloaded() {
	}

	/** A batch of calls was sent and answered in so many nanoseconds. */
	default void batch(int calls, long nanos) {
	}

	/** Returns what a caller is told of a failure. */
	default JedisException explain(JedisException failure) {
		return failure;
	}

	/**
	 * A node of a cluster has not executed calls of one codec and slot, because another
	 * node has the slot. They fail by default. A listener that knows the other node
	 * submits each call to it that it can {@linkplain Call#takeBack take back}.
	 */
	default void redirected(List<Call> calls, JedisRedirectionException redirection) {
		calls.forEach((call) -> call.fail(redirection));
	}

}
