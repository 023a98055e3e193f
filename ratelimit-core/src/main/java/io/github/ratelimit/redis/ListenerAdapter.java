package io.github.ratelimit.redis;

import java.time.Duration;

import io.github.ratelimit.redis.connection.Listener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Tells a listener of the application what the connections to one server see.
 */
record ListenerAdapter(String server, RedisListener listener) implements Listener {

	private static final Logger logger = LoggerFactory.getLogger(ListenerAdapter.class);

	@Override
	public void opened(JedisException cause) {
		tell(() -> this.listener.stoppedAnswering(this.server, cause));
	}

	@Override
	public void closed(Duration duration) {
		tell(() -> this.listener.answersAgain(this.server, duration));
	}

	@Override
	public void overloaded() {
		tell(() -> this.listener.queueFull(this.server));
	}

	@Override
	public void batch(int calls, long nanos) {
		tell(() -> this.listener.answered(this.server, calls, Duration.ofNanos(nanos)));
	}

	private static void tell(Runnable event) {
		try {
			event.run();
		}
		catch (RuntimeException ex) {
			logger.warn("A listener of Redis failed", ex);
		}
	}

}
