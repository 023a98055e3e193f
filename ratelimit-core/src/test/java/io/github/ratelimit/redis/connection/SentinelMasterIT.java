package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.ratelimit.redis.AnsweringServer;
import io.github.ratelimit.test.FaultyProxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is asked of sentinels that do not answer.
 */
@Timeout(120)
class SentinelMasterIT {

	private static final JedisClientConfig CONFIG = DefaultJedisClientConfig.builder().build();

	private static final long LONG = Duration.ofSeconds(60).toNanos();

	@Test
	void sentinelThatFailsIsAskedOnceASecond() {
		try (AnsweringServer sentinel = new AnsweringServer("SENTINEL", "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n6379\r\n",
				() -> {
				}); FaultyProxy proxy = new FaultyProxy(sentinel.uri())) {
			SentinelMaster master = new SentinelMaster("main",
					Set.of(new HostAndPort("127.0.0.1", proxy.uri().getPort())), CONFIG);
			HostAndPort named = new HostAndPort("127.0.0.1", 6379);
			assertThat(master.get(LONG)).isEqualTo(named);
			proxy.lose(Integer.MAX_VALUE);
			master.leave();
			int before = proxy.connections();
			long start = System.nanoTime();
			for (int i = 0; i < 100; i++) {
				assertThat(master.get(LONG)).isEqualTo(named);
			}
			int seconds = (int) Duration.ofNanos(System.nanoTime() - start).toSeconds();
			assertThat(proxy.connections() - before).isBetween(1, 1 + seconds);
		}
	}

	@Test
	void noSentinelIsLostWhenSeveralThreadsLeave() {
		Set<HostAndPort> sentinels = Set.of(new HostAndPort("127.0.0.1", 1), new HostAndPort("127.0.0.1", 2),
				new HostAndPort("127.0.0.1", 3));
		SentinelMaster master = new SentinelMaster("main", sentinels, CONFIG);
		List<CompletableFuture<Void>> threads = Stream.generate(() -> CompletableFuture.runAsync(() -> {
			for (int i = 0; i < 100_000; i++) {
				master.leave();
			}
		})).limit(2).toList();
		threads.forEach(CompletableFuture::join);
		assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> master.get(0))
			.withMessageContainingAll(sentinels.stream().map(HostAndPort::toString).toArray(String[]::new));
	}

}
