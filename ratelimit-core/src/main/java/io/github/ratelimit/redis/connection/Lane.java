package io.github.ratelimit.redis.connection;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Sends the calls that wait over one connection, one batch at a time.
 */
final class Lane implements WatchedSocket.Watch {

	private static final Logger logger = LoggerFactory.getLogger(Lane.class);

	/** How many budgets a batch may take to be sent, at least a second. */
	private static final int PATIENCE = 10;

	/** Pause after a connection has failed while other lanes are connected. */
	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

	final String name;

	final LaneThread thread;

	private final Server server;

	private volatile @Nullable Link link;

	private volatile List<Call> sent = List.of();

	private volatile long sentAt;

	private volatile boolean connecting;

	private volatile long used;

	private int departures;

	Lane(String name, Server server) {
		this.name = name;
		this.thread = new LaneThread(this, server);
		this.server = server;
	}

	void work() {
		connect();
		Link link = this.link;
		if (link == null) {
			return;
		}
		List<Call> calls = this.server.next();
		if (isLeft()) {
			// They may have come after that, and must not be sent to the former server.
			calls.stream().filter(Call::takeBack).forEach((call) -> this.server.submit(call, call.asking));
		}
		else if (!calls.isEmpty()) {
			exchange(link, calls);
		}
		if (link.isBorrowed()) {
			release();
		}
	}

	/** Returns why there is no connection, if there is none. */
	private @Nullable Throwable connect() {
		long start = System.nanoTime();
		try {
			Link link = this.link;
			this.sentAt = start;
			if (link != null && !isLeft() && link.verify(start, isRested(start), this.server.settings.budget())) {
				return null;
			}
			release();
			this.departures = this.server.departures();
			this.connecting = true;
			link = this.server.source.connect(this.server.rest, this, this.server.settings.budget());
			this.used = System.nanoTime();
			if (!link.isBorrowed()) {
				this.server.answerTime = link.roundTrip();
				this.server.breaker.heard(this.used);
			}
			this.link = link;
			return null;
		}
		catch (Throwable ex) {
			release();
			logger.debug("{} has no connection", this.name, ex);
			if (this.server.breaker.isHeard(start) || this.server.othersWork()) {
				this.server.wake();
				LockSupport.parkNanos(PAUSE);
			}
			else {
				this.server.notConnected(ex, start);
			}
			return ex;
		}
		finally {
			this.connecting = false;
		}
	}

	private boolean isRested(long now) {
		return now - this.used > this.server.rest;
	}

	boolean isInUse() {
		return this.link != null && !isRested(System.nanoTime());
	}

	private boolean isLeft() {
		return this.departures != this.server.departures();
	}

	private void exchange(Link link, List<Call> calls) {
		long start = System.nanoTime();
		this.sentAt = start;
		this.used = start;
		this.sent = calls;
		try {
			JedisException cause = this.server.breaker.cause();
			if (cause != null) {
				// The thread that refused all calls did not know of these.
				calls.forEach((call) -> call.fail(CallException.outage(cause)));
				return;
			}
			Batch batch = new Batch(calls, this.server.listener);
			batch.exchange(link);
			long now = System.nanoTime();
			this.server.breaker.answered(calls, now);
			this.server.answerTime = now - start;
			this.server.listener.batch(calls.size(), now - start);
			if (batch.refused) {
				this.server.leave();
			}
			this.server.noteLoading(batch.loading, now);
		}
		catch (Throwable ex) {
			fail((ex instanceof JedisException cause) ? cause : new JedisException("A batch has failed", ex), calls);
		}
		finally {
			this.sent = List.of();
		}
	}

	/**
	 * Handles a broken connection. A new one shows whether the server is available. It is
	 * made after a pause if the one before has broken as well.
	 */
	private void fail(JedisException failure, List<Call> calls) {
		Link link = this.link;
		release();
		boolean silence = ConnectionSource.isSilence(failure);
		if (silence && link != null && !link.isBorrowed()) {
			this.server.breaker.unanswered(failure, this.sentAt);
		}
		if (silence && !this.server.breaker.isHeard(this.sentAt)) {
			this.server.breaker.open(failure, this.sentAt);
		}
		boolean broken = !silence && failure instanceof JedisConnectionException;
		boolean again = broken && this.server.breaker.broken(failure, this.sentAt);
		Throwable refusal = (!again && this.server.breaker.cause() == null) ? connect() : null;
		JedisException reason = silence ? CallException.silence(failure)
				: (broken && refusal != null) ? refused(failure, refusal) : failure;
		calls.forEach((call) -> call.fail(reason));
		if (again && this.server.breaker.cause() == null) {
			LockSupport.parkNanos(PAUSE);
		}
	}

	private static JedisException refused(JedisException failure, Throwable refusal) {
		JedisException reason = new JedisConnectionException(failure.getMessage(), refusal);
		reason.addSuppressed(failure);
		return reason;
	}

	void release() {
		Link link = this.link;
		this.link = null;
		if (link != null) {
			if (isLeft()) {
				link.end();
			}
			link.release();
		}
	}

	@Override
	public void silent() throws SocketTimeoutException {
		SocketTimeoutException silence = this.server.silence();
		boolean login = this.link == null;
		if (login && this.server.isInUse()) {
			// The other lanes show whether the server is available.
			return;
		}
		if (this.server.breaker.isHeard(this.sentAt)) {
			// Only this connection is silent, or a login began before an outage ended.
			throw silence;
		}
		this.server.breaker.open(new JedisConnectionException(silence), this.sentAt);
	}

	@Override
	public void received(long now) {
		this.server.breaker.heard(now);
	}

	/**
	 * Gives up a connection that blocks while sending, which no timeout of reading shows,
	 * and does not wait for ever for one that is being made, unless a pool may have none.
	 */
	void cutIfStuck(long now) {
		ServerSettings settings = this.server.settings;
		long budget = settings.budget().toNanos();
		boolean connecting = this.connecting && this.server.source instanceof OwnConnections && !this.server.isInUse();
		long patience = connecting ? Math.max(settings.lasting().toNanos(), budget)
				: Math.max(ConnectionSource.REST, PATIENCE * budget);
		if ((connecting || !this.sent.isEmpty()) && now - this.sentAt > patience
				&& !this.server.breaker.isHeard(this.sentAt) && this.server.breaker.cause() == null) {
			this.server.breaker.open(stuck(connecting, Duration.ofNanos(patience)), this.sentAt);
			Link link = this.link;
			if (link != null) {
				link.cut();
			}
		}
	}

	private JedisException stuck(boolean connecting, Duration patience) {
		if (connecting && this.thread.awaitsLogin()) {
			return Login.unanswered(patience);
		}
		return new JedisConnectionException(connecting ? "No connection was made" : "Nothing could be sent",
				new SocketTimeoutException("Nothing was received for " + patience));
	}

	void refuse(JedisException cause) {
		this.sent.forEach((call) -> call.fail(CallException.silence(cause)));
	}

	/**
	 * A borrowed connection is given back when it is done, because a pool makes a new one
	 * for each that is broken, even while it is being closed.
	 */
	void close() {
		this.thread.close();
		Link link = this.link;
		if (link != null && !link.isBorrowed()) {
			link.cut();
		}
	}

}
