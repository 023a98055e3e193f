package io.github.ratelimit.spring.redis;

import java.time.Duration;

import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisListener;
import io.github.ratelimit.spring.decide.Decider;

import org.springframework.context.SmartLifecycle;

/**
 * Leaves no connection and no thread behind when the application context is stopped, as
 * before a checkpoint of the process. The next decision connects again, and so does the
 * next start if calls still run. What may make decisions while it stops is stopped
 * before. An outage ends as soon as Redis answers again, also without requests.
 */
final class RedisLifecycle implements SmartLifecycle, RedisListener {

	private final RedisConnections redis;

	private final Decider decider;

	private volatile boolean running;

	RedisLifecycle(RedisConnections redis, Decider decider) {
		this.redis = redis;
		this.decider = decider;
	}

	@Override
	public void answersAgain(String server, Duration outage) {
		this.decider.outage().storeAnswers();
	}

	@Override
	public void start() {
		this.running = true;
		this.decider.resume();
	}

	@Override
	public void stop() {
		this.running = false;
		this.decider.pause();
		this.redis.disconnect();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return Integer.MIN_VALUE;
	}

}
