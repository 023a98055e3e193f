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
 * Passes on what connections see to all beans that listen. They are looked for when there
 * is something to tell, because they may depend on what decides.
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
			// Beans cannot be had any more while the application is closed.
			logger.debug("A listener of Redis failed", ex);
		}
	}

}
