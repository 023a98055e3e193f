package io.github.ratelimit.spring.redis;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.github.ratelimit.redis.RedisListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.function.SingletonSupplier;

/**
 * Forwards events of connections to all listener beans. The beans are looked up at the
 * first event, because they may depend on the rate limiter.
 */
final class RedisListeners implements RedisListener {

	private static final Logger logger = LoggerFactory.getLogger(RedisListeners.class);

	private final SingletonSupplier<List<RedisListener>> listeners;

	RedisListeners(ObjectProvider<RedisListener> listeners) {
		this.listeners = SingletonSupplier.of(() -> listeners.orderedStream().toList());
	}

	@Override
	public void stoppedAnswering(String server, Throwable reason) {
		each((listener) -> listener.stoppedAnswering(server, reason));
	}

	@Override
	public void answersAgain(String server, Duration outage) {
		each((listener) -> listener.answersAgain(server, outage));
	}

	@Override
	public void queueFull(String server) {
		each((listener) -> listener.queueFull(server));
	}

	@Override
	public void answered(String server, int calls, Duration time) {
		each((listener) -> listener.answered(server, calls, time));
	}

	private void each(Consumer<RedisListener> event) {
		try {
			this.listeners.obtain().forEach(event);
		}
		catch (RuntimeException ex) {
			// Beans are no longer available while the application is closing.
			logger.debug("A listener of Redis failed", ex);
		}
	}

}
