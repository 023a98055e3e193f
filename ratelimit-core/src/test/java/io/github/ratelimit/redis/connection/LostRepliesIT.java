package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections that break while many calls are under way: each has been done at most once.
 */
@Timeout(300)
class LostRepliesIT {

	private static final Logger logger = LoggerFactory.getLogger(LostRepliesIT.class);

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final int THREADS = 32;

	/** Of each thread. */
	private static final int CALLS = Integer.getInteger("ratelimit.test.lost-replies.calls", 500);

	@Test
	void nothingIsSentTwiceAndEveryOutcomeIsTrue() throws Exception {
		String prefix = TestRedis.newKeyPrefix();
		Map<String, Object> outcomes = new ConcurrentHashMap<>();
		Events events = new Events();
		Increment.ByScript carrier = new Increment.ByScript(Increment.SCRIPT);
		try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri());
				Server server = Connecting.to(proxy.uri().getPort(), LONG, events)) {
			List<Thread> threads = new ArrayList<>(IntStream.range(0, THREADS)
				.mapToObj(
						(i) -> new Thread(() -> callOften(server, events, carrier, prefix + "-" + i, outcomes, proxy)))
				.toList());
			threads.forEach(Thread::start);
			for (Thread thread : threads) {
				thread.join();
			}
		}
		assertThat(outcomes).hasSize(THREADS * CALLS);
		outcomes.forEach((key, outcome) -> {
			String count = TestRedis.client().get(key);
			if (Connecting.isNotSent(outcome)) {
				assertThat(count).as("not sent").isNull();
			}
			else if (outcome instanceof JedisException) {
				assertThat(count).as("no answer").isIn(null, "1");
			}
			else {
				assertThat(outcome).isEqualTo(1L);
				assertThat(count).as("answered").isEqualTo("1");
			}
		});
		long lost = outcomes.values().stream().filter(LostRepliesIT::isLost).count();
		logger.info("Of {} calls {} have lost their reply", outcomes.size(), lost);
		assertThat(lost).isPositive();
		assertThat(outcomes.values()).contains(1L);
	}

	private static boolean isLost(Object outcome) {
		return outcome instanceof JedisException && !Connecting.isNotSent(outcome);
	}

	private static void callOften(Server server, Events events, Carrier carrier, String prefix,
			Map<String, Object> outcomes, FaultyProxy proxy) {
		for (int i = 0; i < CALLS; i++) {
			// Of one thread only, so that connections can be made.
			if (i % 25 == 0 && prefix.endsWith("-0")) {
				proxy.lose(1);
				TestRedis.client().scriptFlush();
			}
			events.awaitClosed();
			String key = prefix + ":" + i;
			Increment call = new Increment(carrier, key, LONG);
			server.submit(call);
			try {
				outcomes.put(key, call.await());
			}
			catch (JedisException ex) {
				outcomes.put(key, ex);
			}
		}
	}

}
