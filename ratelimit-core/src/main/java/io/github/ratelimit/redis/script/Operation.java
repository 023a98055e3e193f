package io.github.ratelimit.redis.script;

import io.github.ratelimit.Charge;

/**
 * What a script does with a request.
 */
public enum Operation {

	/** Uses the cost if every limit allows it. */
	ACQUIRE,

	/** Decides, and writes nothing. */
	PEEK,

	/** Gives the cost back. */
	REFUND,

	/** Uses the cost, whether allowed or not. */
	CHARGE,

	/**
	 * As {@link #ACQUIRE}, for one of several slots that decide a request together. It
	 * uses the whole cost or nothing: denied requests never count. Also answers the time,
	 * by which {@link #CANCEL} finds the cost.
	 */
	RESERVE,

	/** Gives back a reservation, or counts a denial, then decides as {@link #PEEK}. */
	CANCEL,

	/** Counts as many denials as the cost. Only with {@link Scope#BLOCKS}. */
	COUNT_DENIALS,

	/** Reads what one policy has stored for one identifier. */
	HISTORY;

	public boolean decides() {
		return this == ACQUIRE || this == PEEK || this == RESERVE || this == CANCEL || this == COUNT_DENIALS;
	}

	/** Whether it counts denials. Another slot may deny a reservation in shadow mode. */
	public boolean penalizes(Scope scope, boolean shadow) {
		return this == COUNT_DENIALS || (acquires() && scope == Scope.ALL && !(this == RESERVE && shadow));
	}

	public boolean readsBlocks(Scope scope) {
		return decides() && scope != Scope.COUNTS;
	}

	public boolean acquires() {
		return this == ACQUIRE || this == RESERVE;
	}

	boolean penalizes(Scope scope, Charge charge) {
		return charge.policy().penalty() != null && penalizes(scope, charge.shadow());
	}

	public boolean givesBack() {
		return this == REFUND || this == CANCEL;
	}

	public boolean uses() {
		return acquires() || this == CHARGE || this == CANCEL;
	}

}
