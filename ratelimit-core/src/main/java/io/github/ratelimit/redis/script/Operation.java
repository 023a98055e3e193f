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
	 * As {@link #ACQUIRE}, for one of several slots that decide a request together. Also
	 * answers the time, by which {@link #CANCEL} finds the cost. In shadow mode, denied
	 * requests are never counted.
	 */
	RESERVE,

	/** Gives back what was reserved, then decides as {@link #PEEK}. */
	CANCEL,

	/**
	 * Counts denials that the script was not asked for; the cost is their number. Only
	 * with {@link Scope#BLOCKS}.
	 */
	COUNT_DENIALS,

	/** Reads what one policy has stored for one identifier. */
	HISTORY;

	boolean decides() {
		return this == ACQUIRE || this == PEEK || this == RESERVE || this == CANCEL || this == COUNT_DENIALS;
	}

	/**
	 * Returns whether it counts denials for the penalty of a policy. Not for a
	 * reservation in shadow mode whose denial {@link #ACQUIRE} counts later.
	 */
	boolean penalizes(Scope scope, boolean countDenied, boolean shadow) {
		return this == COUNT_DENIALS
				|| (acquires() && scope == Scope.ALL && !(this == RESERVE && shadow && countDenied));
	}

	/** Returns whether it reads the blocks of identifiers. */
	boolean readsBlocks(Scope scope) {
		return decides() && scope != Scope.COUNTS;
	}

	/** Returns whether it uses the cost if that is allowed. */
	boolean acquires() {
		return this == ACQUIRE || this == RESERVE;
	}

	/** Returns whether it counts denials for the penalty of a policy. */
	boolean penalizes(Scope scope, Charge charge) {
		return charge.policy().penalty() != null && penalizes(scope, charge.policy().countDenied(), charge.shadow());
	}

	/** Returns whether it gives the cost back. */
	boolean givesBack() {
		return this == REFUND || this == CANCEL;
	}

	/** Returns whether it may use the cost. */
	boolean uses() {
		return acquires() || this == CHARGE;
	}

}
