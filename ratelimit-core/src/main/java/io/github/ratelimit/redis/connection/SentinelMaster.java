package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
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

	/** What Jedis waits before it asks a sentinel again. */
	private static final Duration PAUSE = Duration.ofSeconds(5);

	private final String name;

	private final Set<HostAndPort> sentinels;

	private final JedisClientConfig config;

	private final CountDownLatch asked = new CountDownLatch(1);

	private final CountDownLatch closed = new CountDownLatch(1);

	private volatile @Nullable SentineledConnectionProvider watch;

	/** Begins to ask. */
	SentinelMaster(String name, Set<HostAndPort> sentinels, JedisClientConfig config) {
		this.name = name;
		this.sentinels = Set.copyOf(sentinels);
		this.config = config;
		Thread thread = new Thread(this::askUntilAnswered, "ratelimit-sentinel");
		thread.setDaemon(true);
		thread.start();
	}

	private void askUntilAnswered() {
		try {
			do {
				ask();
				this.asked.countDown();
			}
			while (this.watch == null && !this.closed.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void ask() {
		try {
			use(new SentineledConnectionProvider(this.name, this.config, new GenericObjectPoolConfig<>(),
					this.sentinels, this.config));
		}
		catch (JedisException ex) {
			// Jedis has warned of each sentinel.
		}
	}

	private synchronized void use(SentineledConnectionProvider provider) {
		if (this.closed.getCount() == 0) {
			provider.close();
		}
		else {
			this.watch = provider;
		}
	}

	/**
	 * Returns the present master.
	 * @param patience how long the first answer is waited for
	 * @throws JedisConnectionException if no sentinel has named it yet
	 */
	HostAndPort get(Duration patience) {
		SentineledConnectionProvider provider = this.watch;
		if (provider == null) {
			awaitFirstAnswer(patience);
			provider = this.watch;
		}
		if (provider == null) {
			throw new JedisConnectionException(
					"None of the sentinels %s has named the master %s".formatted(this.sentinels, this.name));
		}
		return provider.getCurrentMaster();
	}

	private void awaitFirstAnswer(Duration patience) {
		try {
			this.asked.await(patience.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	synchronized void close() {
		this.closed.countDown();
		if (this.watch != null) {
			this.watch.close();
		}
	}

}
