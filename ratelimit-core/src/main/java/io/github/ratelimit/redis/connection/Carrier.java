package io.github.ratelimit.redis.connection;

import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Turns calls into commands. Calls of the same carrier and slot that wait at the same
 * time share their commands. Safe for use by several threads.
 */
public interface Carrier {

	/**
	 * Returns the commands for one or more calls of this carrier, or one transaction.
	 * @param source whether to send the source of a script, because the server does not
	 * know its hash
	 */
	List<CommandArguments> commands(List<Call> calls, boolean source);

	/**
	 * Ends each call by {@link Call#complete} or {@link Call#fail}.
	 * @param replies one for each command; errors of the server as exceptions
	 */
	void deliver(List<Call> calls, List<Object> replies);

	/**
	 * Returns whether a command had no effect because its slot is moving and only some of
	 * its Redis keys are at the new node. It may be repeated for each Redis key alone.
	 */
	static boolean isMoving(@Nullable Object reply) {
		return reply instanceof JedisDataException error && String.valueOf(error.getMessage()).startsWith("TRYAGAIN");
	}

}
