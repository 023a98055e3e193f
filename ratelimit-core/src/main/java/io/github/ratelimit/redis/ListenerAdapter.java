package io.github.ratelimit.redis;

import java.time.Duration;

import io.github.ratelimit.redis.connection.Listener;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Tells a listener of the user's what the connections to one server see.
 */
record ListenerAdapter(String server, RedisListener listener) implements Listener {

	@Override
	public void opened(JedisException cause) {
		this.listener.stoppedAnswering(this.server, cause);
	}

	@Override
	public void closed(Duration duration) {
		this.listener.answersAgain(this.server, duration);
	}

	@Override
	public void overloaded() {
		this.listener.queueFull(this.server);
	}

	@Override
	public void batch(int calls, long nanos) {
		this.listener.answered(this.server, calls, Duration.ofNanos(nanos));
	}

}
