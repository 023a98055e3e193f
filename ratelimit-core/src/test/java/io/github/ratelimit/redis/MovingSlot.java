package io.github.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Servers;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Servers of a cluster of which a slot begins to move before one call, and which lose
 * another one.
 */
final class MovingSlot implements Servers {

	private final List<Call> submitted = new CopyOnWriteArrayList<>();

	private final Servers servers;

	private final int moving;

	private final int lost;

	private final Runnable move;

	MovingSlot(Servers servers, int moving, int lost, Runnable move) {
		this.servers = servers;
		this.moving = moving;
		this.lost = lost;
		this.move = move;
	}

	List<Call> submitted() {
		return this.submitted;
	}

	@Override
	public int slot(byte[] key) {
		return this.servers.slot(key);
	}

	@Override
	public void submit(Call call) {
		this.submitted.add(call);
		if (this.submitted.size() == this.moving) {
			this.move.run();
		}
		if (this.submitted.size() == this.lost) {
			call.fail(new JedisException("It was lost"));
		}
		else {
			this.servers.submit(call);
		}
	}

	@Override
	public void close() {
	}

}
