package io.github.ratelimit.redis.cluster;

import java.util.List;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Carrier;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Asks a node which node has which slot.
 */
final class SlotsCall extends Call {

	/** It is a long answer. */
	private static final int WORK = 4;

	private static final Carrier CARRIER = new SlotsCarrier();

	/**
	 * Creates a call.
	 * @param deadline until when it is waited for, by {@link System#nanoTime()}
	 */
	SlotsCall(long deadline) {
		super(CARRIER, 0, deadline);
	}

	@Override
	public int work() {
		return WORK;
	}

	private static final class SlotsCarrier implements Carrier {

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			return List.of(new CommandArguments(Command.CLUSTER).add("SLOTS"));
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			Object reply = replies.get(0);
			for (Call call : calls) {
				if (reply instanceof JedisException error) {
					call.fail(error);
				}
				else {
					call.complete(reply);
				}
			}
		}

	}

}
