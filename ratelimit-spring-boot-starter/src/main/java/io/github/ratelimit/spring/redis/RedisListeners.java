package io.github.ratelimit.spring.redis;

import java.time.Duration;

import io.github.ratelimit.redis.RedisListener;
import io.github.ratelimit.spring.decide.Listeners;

import org.springframework.beans.factory.ObjectProvider;

/**
 * Forwards events of connections to all listener beans. The beans are looked up at the
 * first event, because they may depend on the rate limiter.
 */
final class RedisListeners implements RedisListener {

	private final Listeners<RedisListener> listeners;

	RedisListeners(ObjectProvider<RedisListener> listeners) {
		this.listeners = new Listeners<>(() -> listeners.orderedStream().toList());
	}

	@Override
	public void stoppedAnswering(String server, Throwable reason) {
		this.listeners.tell((listener) -> listener.stoppedAnswering(server, reason));
	}

	@Override
	public void answersAgain(String server, Duration outage) {
		this.listeners.tell((listener) -> listener.answersAgain(server, outage));
	}

	@Override
	public void queueFull(String server) {
		this.listeners.tell((listener) -> listener.queueFull(server));
	}

	@Override
	public void answered(String server, int calls, Duration time) {
		this.listeners.tell((listener) -> listener.answered(server, calls, time));
	}

}
