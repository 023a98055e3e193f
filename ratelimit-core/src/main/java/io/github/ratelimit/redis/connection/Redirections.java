package io.github.ratelimit.redis.connection;

import java.util.List;

import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * Sends calls on to another node of a cluster. Called by the threads of a {@link Server},
 * which it must not keep waiting.
 */
@FunctionalInterface
public interface Redirections {

	/** Lets the calls fail: there are no other nodes. */
	Redirections NONE = (calls, redirection) -> calls.forEach((call) -> call.fail(redirection));

	/**
	 * Sends on what has had no effect: {@link Call#takeBack} each call, and submit it to
	 * another server if somebody still waits for it; or {@link Call#fail} it.
	 * @param calls calls of one carrier and slot, which were sent here
	 * @param redirection what the node has answered
	 */
	void redirect(List<Call> calls, JedisRedirectionException redirection);

}
