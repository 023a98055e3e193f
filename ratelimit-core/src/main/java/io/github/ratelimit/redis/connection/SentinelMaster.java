package io.github.ratelimit.redis.connection;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Knows from sentinels which server is the master. They are asked in the background when
 * the master is needed, at most once a second, each over a connection of its own. A
 * subscription would be told of changes sooner, but not of its own end.
 */
final class SentinelMaster implements OwnConnections.Address {

	private static final long REST = TimeUnit.SECONDS.toNanos(1);

	private final String name;

	/** The one that has answered last is the first. */
	private final List<HostAndPort> sentinels;

	private final Login login;

	private volatile @Nullable HostAndPort master;

	private volatile long asked = System.nanoTime() - REST;

	private @Nullable CompletableFuture<HostAndPort> asking;

	SentinelMaster(String name, Set<HostAndPort> sentinels, JedisClientConfig config) {
		this.name = name;
		this.sentinels = Collections.synchronizedList(new ArrayList<>(sentinels));
		this.login = new Login(config);
	}

	/**
	 * @param patience how many nanoseconds to wait for a sentinel if there may be another
	 * master since
	 * @throws JedisConnectionException if no sentinel has ever named it
	 */
	@Override
	public HostAndPort get(long patience) {
		HostAndPort known = this.master;
		if (known != null && System.nanoTime() - this.asked < REST) {
			return known;
		}
		CompletableFuture<HostAndPort> answer = ask();
		Throwable failure = null;
		try {
			if (known == null || patience > 0) {
				return (known == null) ? answer.get() : answer.get(patience, TimeUnit.NANOSECONDS);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			failure = ex;
		}
		catch (Exception ex) {
			failure = ex.getCause();
		}
		if (known == null) {
			throw new JedisConnectionException(
					"None of the sentinels %s has named the master %s".formatted(this.sentinels, this.name), failure);
		}
		return known;
	}

	private synchronized CompletableFuture<HostAndPort> ask() {
		CompletableFuture<HostAndPort> asking = this.asking;
		if (asking == null || asking.isDone()) {
			asking = CompletableFuture.supplyAsync(this::askEach,
					BackgroundThread.each("ratelimit-sentinel-" + this.name));
			this.asking = asking;
		}
		return asking;
	}

	private HostAndPort askEach() {
		JedisException failure = new JedisException("There is no sentinel");
		try {
			for (HostAndPort sentinel : List.copyOf(this.sentinels)) {
				try (Jedis jedis = new Jedis(sentinel, this.login.config(this::login))) {
					List<String> found = jedis.sentinelGetMasterAddrByName(this.name);
					if (found != null) {
						HostAndPort named = new HostAndPort(found.get(0), Integer.parseInt(found.get(1)));
						this.master = named;
						return named;
					}
					failure = new JedisException("The sentinel %s does not know the master".formatted(sentinel));
				}
				catch (Throwable ex) {
					failure = (ex instanceof JedisException jedis) ? jedis
							: new JedisException("It could not be asked", ex);
				}
				preferOther();
			}
			throw failure;
		}
		finally {
			this.asked = System.nanoTime();
		}
	}

	/**
	 * Jedis asks once it has connected, and closes the connection if it knows the error.
	 */
	private RedisCredentials login() {
		try {
			return this.login.ask();
		}
		catch (JedisException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new JedisException("The login of the sentinels is unknown: " + ex, ex);
		}
	}

	@Override
	public boolean awaitsLogin() {
		return this.master == null && this.login.isAwaited();
	}

	/** Asks again, and another sentinel first, because this one may be wrong. */
	@Override
	public void leave() {
		preferOther();
		this.asked = System.nanoTime() - REST;
	}

	@Override
	public void close() {
		this.login.close();
	}

	private void preferOther() {
		synchronized (this.sentinels) {
			Collections.rotate(this.sentinels, -1);
		}
	}

}
