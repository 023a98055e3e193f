package io.github.ratelimit.redis.script;

import java.util.List;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Carrier;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Deletes a Redis key.
 */
final class DeleteCall extends Call {

	private static final Carrier CARRIER = new Carrier() {

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			CommandArguments command = new CommandArguments(Command.DEL);
			calls.forEach((call) -> command.key(((DeleteCall) call).key));
			return List.of(command);
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			Object reply = replies.get(0);
			for (Call call : calls) {
				if (reply instanceof JedisDataException failure) {
					call.fail(ErrorText.withoutKeys(failure));
				}
				else {
					call.complete(reply);
				}
			}
		}

	};

	private final byte[] key;

	DeleteCall(byte[] key, int slot, long deadline) {
		super(CARRIER, slot, deadline);
		this.key = key;
	}

	@Override
	public int work() {
		return 1;
	}

}
