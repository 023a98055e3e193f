package io.github.ratelimit.redis;

import java.util.List;

import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * One server, which has all Redis keys.
 */
final class SingleServer implements Servers {

	private final UnifiedJedis jedis;

	SingleServer(UnifiedJedis jedis) {
		this.jedis = jedis;
	}

	@Override
	public int slot(String key) {
		return 0;
	}

	@Override
	public void send(List<Call> calls) {
		calls.forEach(this::execute);
	}

	@Override
	public Link link(String key) {
		return SingleLink.of(this.jedis);
	}

	/**
	 * The text of a script is sent only if the server answers that it does not know the
	 * hash, and has therefore not run anything; nothing is ever sent again for another
	 * reason.
	 */
	private void execute(Call call) {
		try {
			call.answered(this.jedis.executeCommand(call.command()));
		}
		catch (JedisNoScriptException ex) {
			if (call.useWhole()) {
				execute(call);
			}
			else {
				call.fail(ex);
			}
		}
		catch (RuntimeException ex) {
			call.fail(ex);
		}
	}

}
