package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.redis.connection.WatchedSocket.Watch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Knows from the connections to a server whether it is available. During an outage one
 * thread probes the server every second, and more often in the beginning. It ends if the
 * application has closed its client; each call then starts it again.
 */
final class Breaker {

	private static final Logger logger = LoggerFactory.getLogger(Breaker.class);

	/** From the start of the first probe to that of the second. It doubles each time. */
	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

	private final Server server;

	/** Why the server is unavailable; {@code null} if it is available. */
	private volatile @Nullable JedisException cause;

	/** When it became unavailable. */
	private long since;

	/** When any connection last received something. */
	private volatile long heard = System.nanoTime();

	private long probed = System.nanoTime() - LONGEST_PAUSE;

	private long pause = SHORTEST_PAUSE;

	private volatile boolean probing;

	private boolean ended;

	Breaker(Server server) {
		this.server = server;
	}

	/** Returns why the server is unavailable; {@code null} if it is available. */
	@Nullable JedisException cause() {
		return this.cause;
	}

	void heard(long now) {
		this.heard = now;
		if (this.cause != null) {
			close(now);
		}
	}

	/**
	 * Returns whether something was received since some time, and recently, so that the
	 * silence of one connection says nothing about the server.
	 */
	boolean isHeard(long since) {
		long heard = this.heard;
		return heard - since > 0 && System.nanoTime() - heard < this.server.settings.budget().toNanos() / 2;
	}

	void open(JedisException cause) {
		synchronized (this) {
			if (this.cause == null) {
				this.cause = cause;
				this.since = System.nanoTime();
				this.pause = SHORTEST_PAUSE;
				logger.info("Redis ({}) does not answer: {}", this.server.settings.name(), cause.toString());
				startProbe();
				this.server.listener.opened(cause);
			}
		}
		this.server.refuse(cause);
	}

	/** Starts to probe the server, unless that is under way. */
	void ensureProbed() {
		if (!this.probing) {
			startProbe();
		}
	}

	private synchronized void startProbe() {
		if (!this.probing && this.cause != null && !this.ended) {
			this.probing = BackgroundThread.start(this::probe, "ratelimit-probe-" + this.server.settings.name());
		}
	}

	private synchronized void close(long now) {
		if (this.cause == null || this.ended) {
			return;
		}
		this.cause = null;
		Duration duration = Duration.ofNanos(now - this.since);
		logger.info("Redis ({}) answers again, after {} ms", this.server.settings.name(), duration.toMillis());
		this.server.listener.closed(duration);
		notifyAll();
	}

	/** Makes the server unavailable for ever. */
	void end(JedisException cause) {
		synchronized (this) {
			this.ended = true;
			this.cause = cause;
			notifyAll();
		}
		this.server.refuse(cause);
	}

	private void probe() {
		boolean closed = false;
		while (isToProbe(closed)) {
			try {
				this.server.source.connect(true, Watch.NONE, this.server.settings.budget()).release();
				heard(System.nanoTime());
			}
			catch (Throwable ex) {
				// It is the only one, so that nothing may end it.
				logger.debug("Redis ({}) does not answer yet", this.server.settings.name(), ex);
				closed = ex.getCause() instanceof IllegalStateException;
			}
		}
	}

	/**
	 * Waits until it is time for the next probe.
	 * @param closed whether the pool is closed, so that there is none
	 */
	private synchronized boolean isToProbe(boolean closed) {
		try {
			while (!closed && this.cause != null && !this.ended) {
				long left = this.probed + this.pause - System.nanoTime();
				if (left <= 0) {
					this.probed = System.nanoTime();
					this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
					return true;
				}
				TimeUnit.NANOSECONDS.timedWait(this, left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.probing = false;
		return false;
	}

}
