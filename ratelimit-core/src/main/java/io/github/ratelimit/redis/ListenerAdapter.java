package io.github.ratelimit.redis;

import java.time.Duration;

import io.github.ratelimit.redis.connection.Listener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Notifies a listener of the application of what the connections to a server see.
 */
record ListenerAdapter(String server, RedisListener listener) implements Listener {

	private static final Logger logger = LoggerFactory.getLogger(ListenerAdapter.class);

	@Override
	public void opened(JedisException cause) {
		notify(() -> this.listener.stoppedAnswering(this.server, cause));
	}

	@Override
	public void closed(Duration duration) {
		notify(() -> this.listener.answersAgain(this.server, duration));
	}

	@Override
	public void overloaded() {
		notify(() -> this.listener.queueFull(this.server));
	}

	@Override
	public void batch(int calls, long nanos) {
		notify(() -> this.listener.answered(this.server, calls, Duration.ofNanos(nanos)));
	}

	private static void notify(Runnable event) {
		try {
			event.run();
		}
		catch (Throwable ex) {
			logger.warn("A RedisListener failed", ex);
		}
	}

}
