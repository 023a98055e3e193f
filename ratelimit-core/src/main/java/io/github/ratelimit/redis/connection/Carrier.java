package io.github.ratelimit.redis.connection;

import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The commands that calls travel in. Calls of the same carrier and slot that wait at the
 * same moment share them. Safe for use by several threads.
 */
public interface Carrier {

	/**
	 * Returns the commands for some calls of this carrier, one or more, in the order in
	 * which they are sent.
	 * @param source whether the server has answered that it does not know a script by its
	 * hash, so that its source has to be sent
	 */
	List<CommandArguments> commands(List<Call> calls, boolean source);

	/**
	 * Gives each call its answer, by {@link Call#complete} or {@link Call#fail}.
	 * @param replies one for each command; errors of the server as exceptions
	 */
	void deliver(List<Call> calls, List<Object> replies);

	/**
	 * Returns whether a command had no effect because some of its Redis keys are at
	 * another node: their slot is moving. The same may be done Redis key by Redis key.
	 */
	static boolean isMoving(@Nullable Object reply) {
		return reply instanceof JedisDataException error && String.valueOf(error.getMessage()).startsWith("TRYAGAIN");
	}

}
