package io.github.ratelimit.redis.script;

import java.util.List;
import java.util.function.Function;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Carrier;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One command, which is sent by itself.
 */
final class CommandCall extends Call {

	private static final Carrier CARRIER = new Carrier() {

		@Override
		public boolean isShared() {
			return false;
		}

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			return calls.stream().map((call) -> ((CommandCall) call).command.apply(source)).toList();
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			for (int i = 0; i < calls.size(); i++) {
				if (replies.get(i) instanceof JedisException ex) {
					calls.get(i).fail((ex instanceof JedisDataException error) ? ErrorText.withoutKeys(error) : ex);
				}
				else {
					calls.get(i).complete(replies.get(i));
				}
			}
		}

	};

	private final Function<Boolean, CommandArguments> command;

	private final int work;

	/**
	 * Creates a call.
	 * @param command makes the command, with the source of its script if the server needs
	 * that
	 */
	CommandCall(Function<Boolean, CommandArguments> command, int work, int slot, long deadline) {
		super(CARRIER, slot, deadline);
		this.command = command;
		this.work = work;
	}

	@Override
	public int work() {
		return this.work;
	}

}
