package io.github.ratelimit.redis.connection;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Something that a server is asked to do, and what became of it. One thread makes it,
 * hands it over to {@link Servers#submit}, and waits for its answer until its deadline;
 * another one sends it. What has not been sent by the deadline is never sent.
 */
public abstract class Call {

	/** Whatever a call is, it becomes by one change of this field, so that it is one. */
	private static final AtomicReferenceFieldUpdater<Call, Object> STATE = AtomicReferenceFieldUpdater
		.newUpdater(Call.class, Object.class, "state");

	private static final Object SENT = new Object();

	private static final Object GIVEN_UP = new Object();

	private static final Object NO_ANSWER = new Object();

	private final Carrier carrier;

	private final int slot;

	private final long deadline;

	private final Thread caller = Thread.currentThread();

	/** Whether the slot is moving to the node that this is sent to. */
	private boolean asking;

	private int redirections;

	private UnaryOperator<JedisException> explanation = UnaryOperator.identity();

	/** What has become of it: {@code null} if it waits, sent, its answer or failure. */
	private volatile @Nullable Object state;

	/**
	 * Creates a call, to be waited for by the present thread.
	 * @param slot the slot of all its Redis keys
	 */
	protected Call(Carrier carrier, int slot, long deadline) {
		this.carrier = carrier;
		this.slot = slot;
		this.deadline = deadline;
	}

	/** Returns the commands that this travels in. */
	public final Carrier carrier() {
		return this.carrier;
	}

	/** Returns the slot of all Redis keys of this call. */
	public final int slot() {
		return this.slot;
	}

	/**
	 * Returns for how long this holds the server: 1 for the simplest decision, or more.
	 */
	public abstract int work();

	final boolean asking() {
		return this.asking;
	}

	final void asking(boolean asking) {
		this.asking = asking;
	}

	/**
	 * Waits for the answer until the deadline. For the thread that made the call. An
	 * interrupt does not end that, which is short: what is given back must be given back
	 * by a thread as well that is to end.
	 * @throws JedisException if the call has failed, or its time is over
	 */
	public final @Nullable Object await() {
		while (!await(this.deadline)) {
			Object state = this.state;
			if (!isDone(state) && STATE.compareAndSet(this, state, GIVEN_UP)) {
				throw CallException.late(state == SENT);
			}
		}
		Object state = this.state;
		if (state instanceof Failure failure) {
			throw this.explanation.apply(failure.reason);
		}
		return (state != NO_ANSWER) ? state : null;
	}

	/**
	 * Waits for the answer until a moment, and does not give the call up then: it may
	 * still be sent and answered. For the thread that made the call.
	 * @return whether it was answered or has failed
	 */
	public final boolean await(long until) {
		boolean interrupted = false;
		try {
			while (!isDone(this.state)) {
				long left = until - System.nanoTime();
				if (left <= 0) {
					return false;
				}
				LockSupport.parkNanos(this, left);
				interrupted |= Thread.interrupted();
			}
			return true;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/** Returns whether it was answered or has failed. */
	public final boolean isDone() {
		return isDone(this.state);
	}

	private static boolean isDone(@Nullable Object state) {
		return state != null && state != SENT;
	}

	/**
	 * Takes the call for sending.
	 * @return whether it is to be sent; not if its time is over or nobody waits for it
	 */
	final boolean take(long now) {
		if (now - this.deadline >= 0) {
			fail(CallException.late(false));
			return false;
		}
		return STATE.compareAndSet(this, null, SENT);
	}

	/**
	 * Makes a call wait again that was sent: the server has said that it did nothing.
	 * @return whether somebody still waits for it, so that it may be handed over again
	 */
	public final boolean takeBack() {
		return STATE.compareAndSet(this, SENT, null);
	}

	/**
	 * Returns how often the call was sent on, with this time. For whoever has taken it
	 * back.
	 */
	public final int countRedirection() {
		return ++this.redirections;
	}

	/**
	 * Sets what {@link #await} makes of a failure, by the thread that waits. For whoever
	 * hands the call over, before that.
	 */
	public final void explainBy(UnaryOperator<JedisException> explanation) {
		this.explanation = explanation;
	}

	/** Gives a call that was sent its answer. */
	public final void complete(@Nullable Object answer) {
		if (STATE.compareAndSet(this, SENT, (answer != null) ? answer : NO_ANSWER)) {
			LockSupport.unpark(this.caller);
		}
		else {
			answeredLate(answer);
		}
	}

	/** Tells why the call has failed. Ignored if nobody waits for it any more. */
	public final void fail(JedisException reason) {
		Failure failure = new Failure(reason);
		for (Object state = this.state; !isDone(state); state = this.state) {
			if (STATE.compareAndSet(this, state, failure)) {
				LockSupport.unpark(this.caller);
				return;
			}
		}
	}

	/** Learns of an answer that nobody waits for any more. Must not wait for anything. */
	protected void answeredLate(@Nullable Object answer) {
	}

	private record Failure(JedisException reason) {
	}

}
