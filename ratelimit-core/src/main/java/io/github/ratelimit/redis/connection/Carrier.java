package io.github.ratelimit.redis.connection;

import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * The commands that calls travel in. Calls of the same carrier and slot that wait at the
 * same moment share them. Safe for use by several threads.
 */
public interface Carrier {

	/**
	 * Returns the commands for some calls, in the order in which they are sent, one after
	 * the other on one connection.
	 * @param calls the calls, at least one, all of this carrier
	 * @param source whether the server has answered that it does not know a script by its
	 * hash, so that the source of the script has to be sent
	 * @return at least one command
	 */
	List<CommandArguments> commands(List<Call> calls, boolean source);

	/**
	 * Gives each call its answer, by {@link Call#complete} or {@link Call#fail}.
	 * @param calls the calls that were sent
	 * @param replies one reply for each command; errors of the server as exceptions
	 */
	void deliver(List<Call> calls, List<Object> replies);

	/**
	 * Returns whether calls that wait at the same moment may share commands. If each has
	 * commands of its own, one of them may be done while another has to go elsewhere.
	 * @return {@code true} unless said otherwise
	 */
	default boolean isShared() {
		return true;
	}

	/**
	 * Returns where the calls have to go instead, which have had no effect here.
	 * @param replies one reply for each command
	 * @return what the node of a cluster said; {@code null} if it has done what it was
	 * asked
	 */
	default @Nullable JedisRedirectionException redirection(List<Object> replies) {
		for (Object reply : replies) {
			if (reply instanceof JedisRedirectionException redirection) {
				return redirection;
			}
		}
		return null;
	}

	/**
	 * Returns whether a command had no effect because some of its Redis keys are at
	 * another node: their slot is moving. The same may be done Redis key by Redis key.
	 * @param reply a reply, or what a call has failed with
	 * @return whether the node has asked to try again
	 */
	static boolean isMoving(@Nullable Object reply) {
		return reply instanceof JedisDataException error && String.valueOf(error.getMessage()).startsWith("TRYAGAIN");
	}

}
