package io.github.ratelimit.redis.connection;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
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

	private static final AtomicIntegerFieldUpdater<Call> STATE = AtomicIntegerFieldUpdater.newUpdater(Call.class,
			"state");

	private static final int WAITING = 0;

	private static final int SENT = 1;

	private static final int DONE = 2;

	private final Carrier carrier;

	private final int slot;

	private final long deadline;

	private final Thread caller = Thread.currentThread();

	private volatile int state;

	/** How often it was taken back. */
	private int returns;

	private UnaryOperator<JedisException> explanation = UnaryOperator.identity();

	private @Nullable Object answer;

	private @Nullable JedisException failure;

	/**
	 * Creates a call, to be waited for by the present thread.
	 * @param carrier the commands that it travels in
	 * @param slot the slot of all its Redis keys
	 * @param deadline until when it may be sent and answered, by
	 * {@link System#nanoTime()}
	 */
	protected Call(Carrier carrier, int slot, long deadline) {
		this.carrier = carrier;
		this.slot = slot;
		this.deadline = deadline;
	}

	/**
	 * Returns the commands that this travels in.
	 * @return the carrier
	 */
	public final Carrier carrier() {
		return this.carrier;
	}

	/**
	 * Returns the slot of all Redis keys of this call.
	 * @return the slot
	 */
	public final int slot() {
		return this.slot;
	}

	/**
	 * Returns for how long this holds the server, as a multiple of the simplest decision.
	 * @return at least 1
	 */
	public abstract int work();

	/**
	 * Waits for the answer until the deadline. For the thread that made the call.
	 * @return what the carrier has delivered
	 * @throws JedisException if the call has failed, or its time is over; the thread
	 * stays interrupted if it is
	 */
	public final @Nullable Object await() {
		long left = this.deadline - System.nanoTime();
		while (this.state != DONE && left > 0 && !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(this, left);
			left = this.deadline - System.nanoTime();
		}
		if (this.state != DONE) {
			giveUp(left > 0);
		}
		if (this.failure != null) {
			throw this.explanation.apply(this.failure);
		}
		return this.answer;
	}

	private void giveUp(boolean interrupted) {
		if (STATE.compareAndSet(this, WAITING, DONE)) {
			throw interrupted ? NotSentException.interrupted() : NotSentException.tooLate();
		}
		if (STATE.compareAndSet(this, SENT, DONE)) {
			throw new NoAnswerException(
					interrupted ? "Interrupted before it was answered" : "It was sent, and not answered in time", null,
					interrupted);
		}
	}

	/**
	 * Takes the call for sending.
	 * @param now the time, by {@link System#nanoTime()}
	 * @return whether it is to be sent; not if its time is over or nobody waits for it
	 */
	final boolean take(long now) {
		if (now - this.deadline >= 0) {
			fail(NotSentException.tooLate());
			return false;
		}
		return STATE.compareAndSet(this, WAITING, SENT);
	}

	/**
	 * Makes a call wait again that was sent: the server has said that it did nothing.
	 * @return whether somebody still waits for it, so that it may be handed over again
	 */
	public final boolean takeBack() {
		this.returns++;
		return STATE.compareAndSet(this, SENT, WAITING);
	}

	/**
	 * Returns how often the call was taken back. For whoever takes it back.
	 * @return 0 if it never was
	 */
	public final int returns() {
		return this.returns;
	}

	/**
	 * Sets what a failure means where the call is handed over to. For whoever hands it
	 * over, before that.
	 * @param explanation makes of the failure the one that {@link #await} throws, when
	 * that throws it
	 */
	public final void explainBy(UnaryOperator<JedisException> explanation) {
		this.explanation = explanation;
	}

	/**
	 * Gives a call that was sent its answer.
	 * @param answer the answer
	 */
	public final void complete(@Nullable Object answer) {
		this.answer = answer;
		if (STATE.compareAndSet(this, SENT, DONE)) {
			LockSupport.unpark(this.caller);
		}
		else {
			answeredLate(answer);
		}
	}

	/**
	 * Tells why the call has failed. Ignored if nobody waits for it any more.
	 * @param failure the reason
	 */
	public final void fail(JedisException failure) {
		this.failure = failure;
		if (STATE.compareAndSet(this, SENT, DONE) || STATE.compareAndSet(this, WAITING, DONE)) {
			LockSupport.unpark(this.caller);
		}
	}

	/**
	 * Learns of an answer that nobody waits for any more. Must not wait for anything.
	 * @param answer the answer
	 */
	protected void answeredLate(@Nullable Object answer) {
	}

}
