package io.github.ratelimit.redis.connection;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.SentineledConnectionProvider;

/**
 * Knows which server is the master, from sentinels. Jedis watches them, but not before
 * one of them has answered, and an application must start without: that is waited for in
 * the background. The connections of Jedis are not used, which leaves them unmade.
 */
final class SentinelMaster {

	private static final long PAUSE_SECONDS = 1;

	private final String name;

	private final Set<HostAndPort> sentinels;

	private final JedisClientConfig config;

	private final CompletableFuture<SentineledConnectionProvider> watch = new CompletableFuture<>();

	private final CountDownLatch closed = new CountDownLatch(1);

	/** Begins to ask. */
	SentinelMaster(String name, Set<HostAndPort> sentinels, JedisClientConfig config) {
		this.name = name;
		this.sentinels = Set.copyOf(sentinels);
		this.config = config;
		BackgroundThread.start(this::askUntilAnswered, "ratelimit-sentinel-" + name);
	}

	private void askUntilAnswered() {
		try {
			do {
				ask();
			}
			while (!this.watch.isDone() && !this.closed.await(PAUSE_SECONDS, TimeUnit.SECONDS));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void ask() {
		try {
			SentineledConnectionProvider provider = new SentineledConnectionProvider(this.name, this.config,
					new GenericObjectPoolConfig<>(), this.sentinels, this.config);
			if (!this.watch.complete(provider)) {
				provider.close();
			}
		}
		catch (JedisException ex) {
			// Jedis has warned of each sentinel.
		}
	}

	/**
	 * Returns the present master. Waits a second for the first answer.
	 * @throws JedisConnectionException if no sentinel has named it yet
	 */
	HostAndPort get() {
		try {
			return this.watch.get(1, TimeUnit.SECONDS).getCurrentMaster();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new JedisConnectionException(ex);
		}
		catch (ExecutionException | TimeoutException ex) {
			throw new JedisConnectionException(
					"None of the sentinels %s has named the master %s".formatted(this.sentinels, this.name), ex);
		}
	}

	void close() {
		this.closed.countDown();
		if (!this.watch.cancel(false)) {
			this.watch.join().close();
		}
	}

}
