package io.github.ratelimit.redis.connection;

import java.util.List;
import java.util.function.Function;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Commands that share nothing with other calls. Fails with the first error of the server,
 * and if the replies come after the deadline; otherwise the answer is the reply to the
 * last command.
 */
public class CommandCall extends Call {

	private final int work;

	/** Makes the commands with the source of a script if the server needs it. */
	public CommandCall(Function<Boolean, List<CommandArguments>> commands, int work, int slot, long deadline) {
		super(new Commands(commands), slot, deadline);
		this.work = work;
	}

	public static CommandCall question(CommandArguments command, int work, long deadline) {
		return new CommandCall((source) -> List.of(command), work, 0, deadline) {

			@Override
			boolean isQuestion() {
				return true;
			}

		};
	}

	@Override
	public int work() {
		return this.work;
	}

	private record Commands(Function<Boolean, List<CommandArguments>> all) implements Codec {

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			return this.all.apply(source);
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			Call call = calls.get(0);
			// The first outcome holds.
			for (Object reply : replies) {
				if (reply instanceof JedisException ex) {
					call.fail(ex);
				}
			}
			if (call.isLate()) {
				// Nobody may have seen that, if this process was paused.
				call.fail(CallException.late(true));
			}
			call.complete(replies.get(replies.size() - 1));
		}

	}

}
