package io.github.ratelimit.redis.connection;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A request to a server, and its outcome. One thread creates it, hands it over to
 * {@link Servers#submit}, and waits for the answer until the deadline; another thread
 * sends it. A call that was not sent by its deadline is never sent.
 */
public abstract class Call {

	/** Each change of this field is atomic, so that a call has one outcome. */
	private static final AtomicReferenceFieldUpdater<Call, Object> STATE = AtomicReferenceFieldUpdater
		.newUpdater(Call.class, Object.class, "state");

	private static final Object SENT = new Object();

	private static final Object GIVEN_UP = new Object();

	private static final Object NO_ANSWER = new Object();

	private final Codec codec;

	private final int slot;

	private final long deadline;

	private final Thread caller = Thread.currentThread();

	/** Whether the slot is moving to the node that receives the call. */
	boolean asking;

	private int redirections;

	private UnaryOperator<JedisException> explanation = UnaryOperator.identity();

	/** {@code null} while it waits, then sent, then its answer or failure. */
	private volatile @Nullable Object state;

	protected Call(Codec codec, int slot, long deadline) {
		this.codec = codec;
		this.slot = slot;
		this.deadline = deadline;
	}

	public final Codec codec() {
		return this.codec;
	}

	public final int slot() {
		return this.slot;
	}

	/** A server may answer questions about itself, and nothing else. */
	boolean isQuestion() {
		return false;
	}

	/** How much work this is for the server: 1 for the simplest decision. */
	public abstract int work();

	/**
	 * Waits for the answer until the deadline. An interrupt does not end the short wait,
	 * because a thread that is asked to end must still be able to cancel what it has
	 * reserved.
	 * @throws JedisException if the call has failed, or its deadline has passed
	 */
	public final @Nullable Object await() {
		while (!await(this.deadline)) {
			Object state = this.state;
			if (!isDone(state) && STATE.compareAndSet(this, state, GIVEN_UP)) {
				throw this.explanation.apply(CallException.late(state == SENT));
			}
		}
		Object state = this.state;
		if (state instanceof Failure failure) {
			throw this.explanation.apply(failure.reason);
		}
		return (state != NO_ANSWER) ? state : null;
	}

	/** Waits for its end until some time, after which it may still be sent. */
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

	public final boolean isDone() {
		return isDone(this.state);
	}

	final boolean isLate() {
		return System.nanoTime() - this.deadline >= 0;
	}

	private static boolean isDone(@Nullable Object state) {
		return state != null && state != SENT;
	}

	/** Takes it for sending, unless it is late or nobody waits for it. */
	final boolean take(long now) {
		if (now - this.deadline >= 0) {
			fail(CallException.late(false));
			return false;
		}
		return STATE.compareAndSet(this, null, SENT);
	}

	/**
	 * Makes a call wait again that the server has not executed. Returns whether somebody
	 * still waits for it.
	 */
	public final boolean takeBack() {
		return STATE.compareAndSet(this, SENT, null);
	}

	/** Counts and returns redirections. For the thread that has taken the call back. */
	public final int countRedirection() {
		return ++this.redirections;
	}

	/** Sets what {@link #await} applies to a failure, before the call is submitted. */
	public final void explainBy(UnaryOperator<JedisException> explanation) {
		this.explanation = explanation;
	}

	public final void complete(@Nullable Object answer) {
		if (STATE.compareAndSet(this, SENT, (answer != null) ? answer : NO_ANSWER)) {
			LockSupport.unpark(this.caller);
		}
		else {
			answeredLate(answer);
		}
	}

	/** Sets why the call has failed. Has no effect if nobody waits for it any more. */
	public final void fail(JedisException reason) {
		Failure failure = new Failure(reason);
		for (Object state = this.state; !isDone(state); state = this.state) {
			if (STATE.compareAndSet(this, state, failure)) {
				LockSupport.unpark(this.caller);
				return;
			}
		}
	}

	final @Nullable JedisException failure() {
		return (this.state instanceof Failure failure) ? failure.reason : null;
	}

	/** Handles an answer that nobody waits for any more. Must not block. */
	protected void answeredLate(@Nullable Object answer) {
	}

	private record Failure(JedisException reason) {
	}

}
