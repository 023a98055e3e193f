package io.github.ratelimit.redis;

import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * One server, which has all Redis keys.
 */
final class SingleServer implements Servers {

	private final UnifiedJedis jedis;

	private final Sender sender;

	private SingleServer(UnifiedJedis jedis, Sender sender) {
		this.jedis = jedis;
		this.sender = sender;
	}

	/** The server of a client that sends a command once. */
	static SingleServer of(UnifiedJedis jedis) {
		return new SingleServer(jedis, jedis::executeCommand);
	}

	/**
	 * One of several servers, of a client that sends a command again if it fails, also to
	 * another server. Its pipelines do not: they look by a {@code PING} for a server that
	 * answers, and send what they have once.
	 */
	static SingleServer ofSeveral(UnifiedJedis jedis) {
		return new SingleServer(jedis, (command) -> {
			// Not closed: that would send again what has failed. It holds nothing.
			AbstractPipeline pipeline = jedis.pipelined();
			Response<?> reply = pipeline.executeCommand(command);
			pipeline.sync();
			return reply.get();
		});
	}

	@Override
	public int slot(String key) {
		return 0;
	}

	@Override
	public void send(List<Call> calls) {
		calls.forEach(this::execute);
	}

	/**
	 * The text of a script is sent only if the server answers that it does not know the
	 * hash, and has therefore not run anything; nothing is ever sent again for another
	 * reason.
	 */
	private void execute(Call call) {
		try {
			call.answered(this.sender.send(call.command()));
		}
		catch (JedisNoScriptException ex) {
			if (call.useWhole()) {
				execute(call);
			}
			else {
				call.fail(ex);
			}
		}
		catch (RuntimeException | OutOfMemoryError | StackOverflowError ex) {
			call.fail(ex);
		}
	}

	private interface Sender {

		@Nullable Object send(CommandObject<?> command);

	}

}
