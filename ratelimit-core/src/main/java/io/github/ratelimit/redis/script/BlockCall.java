package io.github.ratelimit.redis.script;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Carrier;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A change of a block, or a look at all of them. Each is a command of its own.
 */
final class BlockCall extends Call {

	/** So much more than a decision it is. */
	private static final int WORK = 10;

	private final List<byte[]> keys;

	private final List<String> arguments;

	BlockCall(BlockScript script, List<byte[]> keys, List<String> arguments, int slot, long deadline) {
		super(script, slot, deadline);
		this.keys = keys;
		this.arguments = arguments;
	}

	@Override
	public int work() {
		return WORK;
	}

	/** One of the scripts of blocks, as a carrier. */
	static final class BlockScript implements Carrier {

		private final Script script;

		BlockScript(String name) {
			this.script = Script.named(name);
		}

		@Override
		public boolean isShared() {
			return false;
		}

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			List<CommandArguments> commands = new ArrayList<>();
			for (Call call : calls) {
				BlockCall block = (BlockCall) call;
				CommandArguments command = this.script.command(source && commands.isEmpty());
				command.add(block.keys.size());
				block.keys.forEach(command::add);
				block.arguments.forEach(command::add);
				commands.add(command);
			}
			return commands;
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

	}

}
