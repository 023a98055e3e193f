package io.github.ratelimit.redis.connection;

import java.util.List;

import redis.clients.jedis.CommandArguments;

/**
 * Encodes calls as commands, and delivers the replies. Calls of the same codec and slot
 * that wait at the same time share their commands. Safe for use by several threads.
 */
public interface Codec {

	/** Makes the commands for calls, or one transaction; with sources if needed. */
	List<CommandArguments> commands(List<Call> calls, boolean source);

	/**
	 * Ends each call by {@link Call#complete} or {@link Call#fail}.
	 * @param replies one for each command; errors of the server as exceptions
	 */
	void deliver(List<Call> calls, List<Object> replies);

}
