package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a listener throws is none of those who send.
 */
class ListenerAdapterTests {

	private final List<String> told = new ArrayList<>();

	private boolean failing;

	private final ListenerAdapter adapter = new ListenerAdapter("server", new RedisListener() {

		@Override
		public void stoppedAnswering(String server, Throwable reason) {
			tell(server + " stopped: " + reason.getMessage());
		}

		@Override
		public void answersAgain(String server, Duration outage) {
			tell(server + " answers after " + outage);
		}

		@Override
		public void queueFull(String server) {
			tell(server + " is full");
		}

		@Override
		public void answered(String server, int calls, Duration time) {
			tell(server + " answered " + calls + " in " + time);
		}

	}, () -> {
	});

	private void tell(String text) {
		this.told.add(text);
		if (this.failing) {
			throw new NoClassDefFoundError();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void eventsReachTheListenerWhetherItFailsOrNot(boolean failing) {
		this.failing = failing;
		this.adapter.opened(new JedisException("gone"));
		this.adapter.closed(Duration.ofSeconds(3));
		this.adapter.overloaded();
		this.adapter.batch(7, 5_000_000);
		assertThat(this.told).containsExactly("server stopped: gone", "server answers after PT3S", "server is full",
				"server answered 7 in PT0.005S");
	}

}
