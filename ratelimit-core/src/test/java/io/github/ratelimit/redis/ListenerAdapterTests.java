package io.github.ratelimit.redis;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * What a listener throws is none of those who send.
 */
class ListenerAdapterTests {

	private final ListenerAdapter adapter = new ListenerAdapter("server", new RedisListener() {

		@Override
		public void stoppedAnswering(String server, Throwable reason) {
			throw new IllegalStateException();
		}

		@Override
		public void answersAgain(String server, Duration outage) {
			throw new IllegalStateException();
		}

		@Override
		public void queueFull(String server) {
			throw new NoClassDefFoundError();
		}

		@Override
		public void answered(String server, int calls, Duration time) {
			throw new IllegalStateException();
		}

	});

	@Test
	void failuresOfListenersAreNotPassedOn() {
		assertThatNoException().isThrownBy(() -> {
			this.adapter.opened(new JedisException("gone"));
			this.adapter.closed(Duration.ZERO);
			this.adapter.overloaded();
			this.adapter.batch(1, 1);
		});
	}

}
