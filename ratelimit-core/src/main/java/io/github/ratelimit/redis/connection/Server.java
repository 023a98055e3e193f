package io.github.ratelimit.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.ratelimit.redis.connection.CallException.Reason;
import redis.clients.jedis.exceptions.JedisConnectionException;
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

	final ServerSettings settings;

	final ConnectionSource source;

	final Listener listener;

	final Breaker breaker;

	private final List<Lane> lanes;

	/** What waits. The threads that take from it hold its lock. */
	private final Queue<Call> queue = new ConcurrentLinkedQueue<>();

	private final AtomicInteger waiting = new AtomicInteger();

	/**
	 * Creates a server without connecting to it.
	 * @param settings how it is used
	 * @param source where connections come from; closed with the server
	 * @param listener is notified of what happens
	 */
	public Server(ServerSettings settings, ConnectionSource source, Listener listener) {
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
	 * Submits a call without waiting for it.
	 * @param call a call that waits
	 * @param asking whether its slot is moving to this server, so that {@code ASKING}
	 * precedes its command or transaction
	 */
	public void submit(Call call, boolean asking) {
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
		if (this.waiting.incrementAndGet() > 1) {
			long now = System.nanoTime();
			this.lanes.forEach((lane) -> lane.cutIfStuck(now));
		}
		this.queue.add(call);
		wake();
		cause = this.breaker.cause();
		if (cause != null) {
			// The thread that refused all calls may have missed this one.
			refuse(cause);
		}
	}

	/** Makes sure that a lane looks into the queue after this. */
	void wake() {
		for (Lane lane : this.lanes) {
			if (lane.isSpinning()) {
				return;
			}
		}
		for (Lane lane : this.lanes) {
			if (lane.wake()) {
				return;
			}
		}
		for (Lane lane : this.lanes) {
			if (lane.start()) {
				return;
			}
		}
	}

	/** Whether there is a connection, which may be broken unnoticed. */
	boolean isConnected() {
		return this.lanes.stream().anyMatch(Lane::isConnected);
	}

	boolean hasWaiting() {
		return !this.queue.isEmpty();
	}

	/** Takes the next calls to send, and wakes another lane if more wait. */
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

	/** Handles that no connection can be made. */
	void notConnected(Throwable failure) {
		if (failure.getCause() instanceof NoSuchElementException) {
			// The pool is exhausted, which says nothing about the server.
			this.listener.overloaded();
			refuseWaiting(new CallException(Reason.QUEUE_FULL, "No connection of the pool is free", failure));
		}
		else {
			this.breaker.open((failure instanceof JedisException cause) ? cause
					: new JedisConnectionException("The connection could not be made: " + failure, failure));
		}
	}

	/** Fails all calls, because the server is unavailable. */
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

	/**
	 * Returns whether calls fail at once, because the server does not answer.
	 */
	public boolean isUnavailable() {
		return this.breaker.cause() != null;
	}

	@Override
	public void close() {
		this.breaker.end(new JedisException("The connections are closed"));
		this.lanes.forEach(Lane::close);
		this.source.close();
	}

}
