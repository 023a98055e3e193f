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
 * One server, to which a few connections send together what waits.
 * <p>
 * It counts as gone when something was sent and nothing at all has come back for the time
 * budget, or when there can be no connection: then calls fail at once, until it answers
 * something. That callers wait for their turn, or for a busy processor, does not matter.
 */
public final class Server implements Servers {

	/** Of one batch, so that it holds the server for about a millisecond at most. */
	private static final int MOST_WORK = 128;

	final ServerSettings settings;

	final ConnectionSource source;

	final Listener listener;

	final Breaker breaker;

	private final List<Lane> lanes;

	private final Queue<Call> queue = new ConcurrentLinkedQueue<>();

	private final AtomicInteger waiting = new AtomicInteger();

	/**
	 * Creates a server, and connects to nothing yet.
	 * @param settings how it is used
	 * @param source where connections come from; closed with the server
	 * @param listener learns of what happens
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
	public int slot(byte[] key) {
		return 0;
	}

	@Override
	public void submit(Call call) {
		submit(call, false);
	}

	/**
	 * Hands a call over, and does not wait.
	 * @param call a call that waits
	 * @param asking whether its slot is moving here, so that each of its commands is sent
	 * after an {@code ASKING}
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
			call.fail(new CallException(Reason.QUEUE_FULL, "Too many others wait", null));
			return;
		}
		call.asking(asking);
		if (this.waiting.incrementAndGet() > 1) {
			long now = System.nanoTime();
			this.lanes.forEach((lane) -> lane.cutIfStuck(now));
		}
		this.queue.add(call);
		wake();
		cause = this.breaker.cause();
		if (cause != null) {
			// Who was told of it may not have seen the call.
			refuse(cause);
		}
	}

	/** Has the queue looked into after this, if by one that is at it already. */
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

	/** Whether there is a connection, which may be broken without anybody's knowing. */
	boolean isConnected() {
		for (Lane lane : this.lanes) {
			if (lane.isConnected()) {
				return true;
			}
		}
		return false;
	}

	boolean isWaitedFor() {
		return !this.queue.isEmpty();
	}

	/** Takes what is to be sent next, and has the rest taken by others. */
	List<Call> next() {
		List<Call> calls = new ArrayList<>();
		long now = System.nanoTime();
		int work = 0;
		int taken = 0;
		while (work < MOST_WORK) {
			Call call = this.queue.poll();
			if (call == null) {
				break;
			}
			taken++;
			if (call.take(now)) {
				calls.add(call);
				work += call.work();
			}
		}
		this.waiting.addAndGet(-taken);
		if (isWaitedFor()) {
			wake();
		}
		return calls;
	}

	/** There is no connection for what waits. */
	void notConnected(Throwable failure) {
		if (failure.getCause() instanceof NoSuchElementException) {
			// Others use all connections of the pool, which says nothing of the server.
			this.listener.overloaded();
			refuseWaiting(this.waiting.get(),
					new CallException(Reason.QUEUE_FULL, "No connection of the pool is free", failure));
		}
		else {
			this.breaker.open((failure instanceof JedisException cause) ? cause
					: new JedisConnectionException("The connection could not be made: " + failure, failure));
		}
	}

	/** Fails all calls, because the server counts as gone. */
	void refuse(JedisException cause) {
		refuseWaiting(Integer.MAX_VALUE, CallException.outage(cause));
		this.lanes.forEach((lane) -> lane.refuse(cause));
	}

	private void refuseWaiting(int most, CallException reason) {
		for (int i = 0; i < most; i++) {
			Call call = this.queue.poll();
			if (call == null) {
				return;
			}
			this.waiting.decrementAndGet();
			call.fail(reason);
		}
	}

	/**
	 * Returns whether the server counts as gone, so that calls fail at once.
	 * @return whether it does
	 */
	public boolean isOpen() {
		return this.breaker.cause() != null;
	}

	@Override
	public void close() {
		this.breaker.end(new JedisException("The connections are closed"));
		this.lanes.forEach(Lane::close);
		this.source.close();
	}

}
