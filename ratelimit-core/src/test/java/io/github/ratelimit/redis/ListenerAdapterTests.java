package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
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

	}, () -> {
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

	@Test
	void eventsOfAServerReachItsListener() {
		List<String> told = new ArrayList<>();
		ListenerAdapter telling = new ListenerAdapter("server", new RedisListener() {

			@Override
			public void stoppedAnswering(String server, Throwable reason) {
				told.add(server + " stopped: " + reason.getMessage());
			}

			@Override
			public void answersAgain(String server, Duration outage) {
				told.add(server + " answers after " + outage);
			}

			@Override
			public void queueFull(String server) {
				told.add(server + " is full");
			}

			@Override
			public void answered(String server, int calls, Duration time) {
				told.add(server + " answered " + calls + " in " + time);
			}

		}, () -> {
		});
		telling.opened(new JedisException("gone"));
		telling.closed(Duration.ofSeconds(3));
		telling.overloaded();
		telling.batch(7, 5_000_000);
		assertThat(told).containsExactly("server stopped: gone", "server answers after PT3S", "server is full",
				"server answered 7 in PT0.005S");
	}

}
