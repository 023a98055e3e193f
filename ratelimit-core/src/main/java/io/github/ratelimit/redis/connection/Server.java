package io.github.ratelimit.redis.connection;

import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import io.github.ratelimit.redis.connection.CallException.Reason;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One server. A few connections send it the calls that wait, in batches.
 * <p>
 * The server is unavailable when something was sent and nothing was received for the time
 * budget, or when no connection can be made. Calls then fail at once until the server
 * answers. Callers that wait for their turn or for a busy processor have no influence on
 * that.
 */
public final class Server implements Servers {

	/** Most work in one batch, which then takes the server about a millisecond. */
	private static final int MAX_WORK = 128;

	private static final long DISCONNECTION = TimeUnit.SECONDS.toNanos(2);

	/** How many lasting silences a server may load its data before it is left. */
	private static final int LOADING = 10;

	final ServerSettings settings;

	final ConnectionSource source;

	final Listener listener;

	final Breaker breaker;

	final long rest;

	private final List<Lane> lanes;

	/** What waits. The threads that take from it hold its lock. */
	private final Queue<Call> queue = new ConcurrentLinkedQueue<>();

	private final AtomicInteger waiting = new AtomicInteger();

	/** How often all connections were given up, because this is not the right server. */
	private final AtomicInteger departures = new AtomicInteger();

	private final UnaryOperator<JedisException> explanation = this::explain;

	/** How long the last answer took, in nanoseconds. */
	volatile long answerTime;

	private volatile boolean disconnected;

	private volatile @Nullable Long loading;

	private long leftAt = System.nanoTime() - ConnectionSource.REST;

	public Server(ServerSettings settings, ConnectionSource source, Listener listener) {
		this(settings, source, listener, ConnectionSource.REST);
	}

	Server(ServerSettings settings, ConnectionSource source, Listener listener, long rest) {
		this.rest = rest;
		this.settings = settings;
		this.source = source;
		this.listener = listener;
		this.breaker = new Breaker(this);
		this.lanes = IntStream.range(0, settings.connections())
			.mapToObj((i) -> new Lane("ratelimit-" + settings.name() + "-" + i, this))
			.toList();
	}

	@Override
	public void submit(Call call) {
		submit(call, false);
	}

	/**
	 * @param asking whether its slot is moving here, so that {@code ASKING} precedes its
	 * command or transaction
	 */
	public void submit(Call call, boolean asking) {
		call.explainBy(this.explanation);
		if (this.disconnected) {
			this.disconnected = false;
		}
		JedisException cause = this.breaker.cause();
		if (cause != null) {
			this.breaker.ensureProbed();
			call.fail(CallException.outage(cause));
			return;
		}
		if (this.waiting.get() >= this.settings.maxWaiting()) {
			this.listener.overloaded();
			call.fail(new CallException(Reason.QUEUE_FULL, "Too many other calls wait", null));
			return;
		}
		call.asking = asking;
		enqueue(call);
		cause = this.breaker.cause();
		if (cause != null) {
			// The thread that refused all calls may have missed this one.
			refuse(cause);
		}
	}

	private void enqueue(Call call) {
		if (this.waiting.incrementAndGet() > 1) {
			long now = System.nanoTime();
			this.lanes.forEach((lane) -> lane.cutIfStuck(now));
		}
		this.queue.add(call);
		wake();
	}

	/** Makes sure that a lane looks into the queue after this. */
	void wake() {
		for (Lane lane : this.lanes) {
			if (lane.thread.isSpinning()) {
				return;
			}
		}
		for (Lane lane : this.lanes) {
			if (lane.thread.wake()) {
				return;
			}
		}
		for (Lane lane : this.lanes) {
			if (lane.thread.start()) {
				return;
			}
		}
	}

	boolean isInUse() {
		return this.lanes.stream().anyMatch(Lane::isInUse);
	}

	/**
	 * Asks the other lanes, which may not have seen yet that their connections are
	 * broken. Returns whether one has a connection, for all that is known after that.
	 */
	boolean othersWork() {
		long end = System.nanoTime() + Math.min(this.settings.budget().toNanos(), this.settings.lasting().toNanos());
		for (int i = 1; i < this.lanes.size() && isInUse() && !this.disconnected; i++) {
			Call ping = CommandCall.question(new CommandArguments(Command.PING), 1, end);
			ping.explainBy(this.explanation);
			enqueue(ping);
			try {
				ping.await();
				return true;
			}
			catch (JedisDataException ex) {
				return true;
			}
			catch (JedisException ex) {
				// The next lane may have a connection.
			}
		}
		return isInUse();
	}

	boolean hasWaiting() {
		return !this.queue.isEmpty();
	}

	List<Call> next() {
		List<Call> calls = new ArrayList<>();
		int work = 0;
		int taken = 0;
		try {
			synchronized (this.queue) {
				long now = System.nanoTime();
				for (Call next = this.queue.peek(); next != null
						&& (work == 0 || work + next.work() <= MAX_WORK); next = this.queue.peek()) {
					this.queue.remove();
					taken++;
					if (next.take(now)) {
						calls.add(next);
						work += next.work();
					}
				}
			}
		}
		finally {
			this.waiting.addAndGet(-taken);
		}
		if (hasWaiting()) {
			wake();
		}
		return calls;
	}

	/**
	 * @param since when connecting began
	 */
	void notConnected(Throwable failure, long since) {
		if (failure.getCause() instanceof NoSuchElementException) {
			// The pool is exhausted, which says nothing about the server.
			this.listener.overloaded();
			refuseWaiting(new CallException(Reason.QUEUE_FULL, "No connection of the pool is free", failure));
		}
		else {
			this.breaker.open(
					(failure instanceof JedisException cause) ? cause
							: new JedisConnectionException("The connection could not be made: " + failure, failure),
					since);
		}
	}

	int departures() {
		return this.departures.get();
	}

	/**
	 * Gives up all connections, at most once a second. The next ones may lead to another
	 * server.
	 */
	void leave() {
		synchronized (this) {
			long now = System.nanoTime();
			if (now - this.leftAt < ConnectionSource.REST) {
				return;
			}
			this.leftAt = now;
		}
		// A pool may let it wait.
		this.source.leave();
		this.departures.incrementAndGet();
		this.listener.left();
	}

	/**
	 * Loading ends by itself. If it does not, another server may have become the right
	 * one.
	 */
	void noteLoading(boolean loads, long now) {
		Long since = this.loading;
		if (!loads) {
			if (since != null) {
				this.loading = null;
			}
		}
		else if (since == null) {
			this.loading = now;
		}
		else if (now - since >= LOADING * this.settings.lasting().toNanos()) {
			this.loading = now;
			leave();
		}
	}

	SocketTimeoutException silence() {
		return new SocketTimeoutException("Nothing was received for " + this.settings.budget() + slowness());
	}

	private JedisException explain(JedisException failure) {
		return this.listener.explain((failure instanceof CallException call
				&& (call.reason() == Reason.UNANSWERED || call.reason() == Reason.TOO_LATE))
						? new CallException(call.reason(), failure.getMessage() + slowness(), null) : failure);
	}

	private String slowness() {
		long millis = TimeUnit.NANOSECONDS.toMillis(this.answerTime);
		return (millis < this.settings.budget().toMillis()) ? "" : ", and the last answer took " + millis
				+ " ms: the time budget (ratelimit.redis.timeout) is too short";
	}

	void refuse(JedisException cause) {
		refuseWaiting(CallException.outage(cause));
		this.lanes.forEach((lane) -> lane.refuse(cause));
	}

	/** Fails all calls in the queue; those that are added meanwhile may be left. */
	private void refuseWaiting(CallException reason) {
		synchronized (this.queue) {
			for (int i = this.waiting.get(); i > 0 && hasWaiting(); i--) {
				Call call = this.queue.remove();
				this.waiting.decrementAndGet();
				call.fail(reason);
			}
		}
	}

	public boolean isUnavailable() {
		return this.breaker.cause() != null;
	}

	/**
	 * The silence because of which calls fail at once, while it is
	 * {@linkplain CallException#isBrief() brief}.
	 */
	public @Nullable JedisException briefSilence() {
		JedisException cause = this.breaker.cause();
		return ConnectionSource.isBrief(cause) ? cause : null;
	}

	boolean isDisconnected() {
		return this.disconnected && !hasWaiting();
	}

	@Override
	public void disconnect() {
		this.disconnected = true;
		this.lanes.forEach((lane) -> lane.thread.wake());
		this.breaker.pause();
		long end = System.nanoTime() + DISCONNECTION;
		this.lanes.forEach((lane) -> lane.thread.disconnect(end));
		this.source.disconnect(end);
	}

	@Override
	public void close() {
		this.breaker.end(new JedisException("The connections are closed"));
		this.lanes.forEach(Lane::close);
		this.source.close();
	}

}
