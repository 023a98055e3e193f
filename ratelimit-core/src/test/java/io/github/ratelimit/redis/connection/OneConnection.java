package io.github.ratelimit.redis.connection;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.JedisURIHelper;

/**
 * A server at the other end of one connection, to which calls are sent on the thread of
 * the caller.
 */
public final class OneConnection implements Servers {

	private final Connection connection;

	public OneConnection(URI uri) {
		this.connection = new Connection(JedisURIHelper.getHostAndPort(uri),
				DefaultJedisClientConfig.builder()
					.user(JedisURIHelper.getUser(uri))
					.password(JedisURIHelper.getPassword(uri))
					.database(JedisURIHelper.getDBIndex(uri))
					.timeoutMillis(60_000)
					.build());
	}

	@Override
	public int slot(byte[] key) {
		return 0;
	}

	@Override
	public void submit(Call call) {
		submit(List.of(call));
	}

	/** Sends calls of one codec together. */
	public synchronized void submit(List<? extends Call> calls) {
		List<Call> taken = new ArrayList<>(calls);
		taken.removeIf((call) -> !call.take(System.nanoTime()));
		if (taken.isEmpty()) {
			return;
		}
		Codec codec = taken.get(0).codec();
		List<Object> replies = run(codec.commands(taken, false));
		if (replies.get(0) instanceof JedisDataException ex && ex.getMessage().startsWith("NOSCRIPT")) {
			replies = run(codec.commands(taken, true));
		}
		codec.deliver(taken, replies);
	}

	private List<Object> run(List<CommandArguments> commands) {
		commands.forEach(this.connection::sendCommand);
		List<Object> replies = new ArrayList<>();
		for (int i = 0; i < commands.size(); i++) {
			try {
				replies.add(this.connection.getOne());
			}
			catch (JedisDataException ex) {
				replies.add(ex);
			}
		}
		return replies;
	}

	@Override
	public void close() {
		this.connection.close();
	}

}
