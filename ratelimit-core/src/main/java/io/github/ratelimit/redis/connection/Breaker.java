package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.redis.connection.WatchedSocket.Watch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Knows from the connections to a server whether it is available. During an outage one
 * thread probes the server every second, and more often in the beginning. It ends if the
 * application has closed its client; each call then starts it again. Another thread notes
 * when the silence has lasted, whatever the probe waits for.
 * <p>
 * A server may answer the probes, and no call: it breaks connections then, or is silent.
 * Once that has lasted, an answer to a probe lets the next call pass, and only an answer
 * to a call ends the outage.
 */
final class Breaker {

	private static final Logger logger = LoggerFactory.getLogger(Breaker.class);

	/** From the start of the first probe to that of the second. It doubles each time. */
	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

	/**
	 * How often a silence is looked at, so that a pause of this process hardly counts.
	 */
	private static final int LOOKS = 10;

	private final Server server;

	/** How long a silence has to be that no busy processor brings about. */
	private final long lasting;

	private final FailingCalls failing;

	/**
	 * Why the server is unavailable. A bare silence or broken connection until probes
	 * show that it lasts.
	 */
	private volatile @Nullable JedisException cause;

	private boolean open;

	private long since;

	private long silence;

	private volatile long heard = System.nanoTime();

	private long probed = System.nanoTime() - LONGEST_PAUSE;

	private long pause = SHORTEST_PAUSE;

	private volatile boolean probing;

	private volatile boolean watching;

	private boolean ended;

	private boolean told;

	Breaker(Server server) {
		this.server = server;
		this.lasting = server.settings.lasting().toNanos();
		this.failing = new FailingCalls(this.lasting);
	}

	@Nullable JedisException cause() {
		return this.cause;
	}

	void heard(long now) {
		this.heard = now;
		if (this.cause != null && !this.failing.haveLasted()) {
			close(now);
		}
	}

	void answered(List<Call> calls, long now) {
		if (this.failing.isAny() && !calls.stream().allMatch(Call::isQuestion)) {
			this.failing.forget();
			close(now);
		}
		heard(now);
	}

	/**
	 * Notes that a connection broke over which calls were sent. Returns whether the last
	 * one did, too.
	 */
	boolean broken(JedisException failure, long sentAt) {
		boolean again = this.failing.isAny();
		if (this.failing.broken(sentAt, System.nanoTime())) {
			open(atEachCall(failure), sentAt);
		}
		return again;
	}

	private static JedisException atEachCall(JedisException failure) {
		return new JedisConnectionException("Connections can be made, and break or are silent at each call", failure);
	}

	/**
	 * Notes that a connection was given up because calls were silent, and others were
	 * not. The server is unavailable if that lasts with connections that were made later.
	 */
	void unanswered(JedisException failure, long sentAt) {
		long now = System.nanoTime();
		if (now - sentAt < 2 * this.server.answerTime) {
			// They may be on their way.
			return;
		}
		if (this.failing.silent(sentAt, now)) {
			open(failure, sentAt);
		}
	}

	/**
	 * Returns whether something was received since, and recently: the silence of one
	 * connection says nothing then.
	 */
	boolean isHeard(long since) {
		long heard = this.heard;
		return heard - since > 0 && System.nanoTime() - heard < this.server.settings.budget().toNanos() / 2;
	}

	/**
	 * @param silence since when nothing was received
	 */
	void open(JedisException failure, long silence) {
		JedisException cause = (this.failing.haveLasted() && ConnectionSource.isBrief(failure)) ? atEachCall(failure)
				: failure;
		synchronized (this) {
			if (this.cause == null || this.failing.haveLasted() && ConnectionSource.isBrief(this.cause)) {
				this.cause = cause;
				this.silence = silence;
				tell(cause);
				boolean begins = !this.open;
				if (begins) {
					this.open = true;
					this.since = System.nanoTime();
					this.pause = SHORTEST_PAUSE;
				}
				startProbe();
				if (begins) {
					this.server.listener.opened(cause);
				}
			}
		}
		this.server.refuse(cause);
	}

	/**
	 * Not of a bare silence, which may be nothing but a slow network, again and again.
	 */
	private void tell(Throwable cause) {
		if (!ConnectionSource.isBrief(cause) && !this.told) {
			logger.info("Redis ({}) does not answer: {}", this.server.settings.name(), cause.toString());
			this.told = true;
		}
	}

	void ensureProbed() {
		if (!this.probing || !this.watching && ConnectionSource.isBrief(this.cause)) {
			startProbe();
		}
	}

	private synchronized void startProbe() {
		if (this.cause == null || this.ended) {
			return;
		}
		if (!this.probing) {
			this.probing = BackgroundThread.start(this::probe, "ratelimit-probe-" + this.server.settings.name());
		}
		if (!this.watching && ConnectionSource.isBrief(this.cause)) {
			this.watching = BackgroundThread.start(this::watch, "ratelimit-watch-" + this.server.settings.name());
		}
	}

	private synchronized void watch() {
		try {
			for (JedisException watched = this.cause; ConnectionSource.isBrief(watched)
					&& !this.server.isDisconnected(); watched = this.cause) {
				awaitLasting(watched);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.watching = false;
		notifyAll();
	}

	private void awaitLasting(@Nullable JedisException watched) throws InterruptedException {
		long look = Math.max(1, this.lasting / LOOKS);
		long left = Math.max(look, this.lasting - (System.nanoTime() - this.silence));
		while (left > 0) {
			long start = System.nanoTime();
			TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, look));
			if (this.cause != watched || this.server.isDisconnected()) {
				return;
			}
			left -= Math.min(System.nanoTime() - start, look);
		}
		this.failing.forget();
		this.cause = new JedisConnectionException("The server does not answer", this.cause);
		tell(this.cause);
	}

	private synchronized void close(long now) {
		if (!this.open || this.ended) {
			return;
		}
		this.cause = null;
		notifyAll();
		if (this.failing.haveLasted()) {
			return;
		}
		this.open = false;
		Duration duration = Duration.ofNanos(now - this.since);
		if (this.told) {
			logger.info("Redis ({}) answers again, after {} ms", this.server.settings.name(), duration.toMillis());
			this.told = false;
		}
		this.server.listener.closed(duration);
	}

	/** Ends the probes until the next call, and waits for that, but not for ever. */
	synchronized void pause() {
		notifyAll();
		BackgroundThread.await(this, () -> !this.probing && !this.watching, 2 * LONGEST_PAUSE);
	}

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
		while (awaitProbe(closed)) {
			try {
				this.server.source.connect(0, Watch.NONE, this.server.settings.budget()).release();
				this.heard = System.nanoTime();
				close(this.heard);
			}
			catch (Throwable ex) {
				// It is the only one, so that nothing may end it.
				logger.debug("Redis ({}) does not answer yet", this.server.settings.name(), ex);
				closed = ex.getCause() instanceof IllegalStateException;
				if (!(ex.getCause() instanceof NoSuchElementException)) {
					notConnected(ex);
				}
			}
		}
	}

	private synchronized void notConnected(Throwable probe) {
		this.failing.forget();
		if (ConnectionSource.isBrief(this.cause) && !ConnectionSource.isBrief(probe)) {
			this.cause = new JedisConnectionException("The server cannot be connected to", probe);
			tell(probe);
		}
	}

	/** Returns whether there is a next one; not if the pool is closed. */
	private synchronized boolean awaitProbe(boolean closed) {
		try {
			while (!closed && this.cause != null && !this.ended && !this.server.isDisconnected()) {
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
		notifyAll();
		return false;
	}

}
