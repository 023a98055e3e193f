package io.github.ratelimit.redis.connection;

import java.util.List;
import java.util.function.Function;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Commands that share nothing with other calls. Fails with the first error of the server;
 * otherwise the answer is the reply to the last command.
 */
public final class CommandCall extends Call {

	private static final Carrier CARRIER = new Carrier() {

		@Override
		public boolean isShared() {
			return false;
		}

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			return ((CommandCall) calls.get(0)).commands.apply(source);
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			Call sent = calls.get(0);
			// What is told first holds.
			for (Object reply : replies) {
				if (reply instanceof JedisException ex) {
					sent.fail(ex);
				}
			}
			if (sent.isLate()) {
				sent.fail(CallException.late(true));
			}
			sent.complete(replies.get(replies.size() - 1));
		}

	};

	private final Function<Boolean, List<CommandArguments>> commands;

	private final int work;

	/**
	 * Creates a call.
	 * @param commands makes the commands, with the source of a script if the server needs
	 * it
	 */
	public CommandCall(Function<Boolean, List<CommandArguments>> commands, int work, int slot, long deadline) {
		super(CARRIER, slot, deadline);
		this.commands = commands;
		this.work = work;
	}

	@Override
	public int work() {
		return this.work;
	}

}
