package io.github.ratelimit.redis.script;

/**
 * What is done with a request.
 */
public enum Operation {

	/** Uses the cost if every limit allows it. */
	ACQUIRE,

	/** Decides, and writes nothing. */
	PEEK,

	/** Gives the cost back. */
	REFUND,

	/** Uses the cost, whether it is allowed or not. */
	CHARGE,

	/**
	 * As {@link #ACQUIRE}, for one of several slots that decide a request together. Tells
	 * the time as well, at which the cost may be taken back by {@link #CANCEL}. In shadow
	 * mode, it counts nothing that is denied.
	 */
	HOLD,

	/** Gives back what was held, and decides as {@link #PEEK} what is so then. */
	CANCEL,

	/** Reads what one policy remembers of one identifier. */
	HISTORY;

	boolean decides() {
		return this == ACQUIRE || this == PEEK || this == HOLD || this == CANCEL;
	}

	/** Whether it uses the cost if that is allowed. */
	boolean acquires() {
		return this == ACQUIRE || this == HOLD;
	}

	/** Whether it may use the cost. */
	boolean uses() {
		return acquires() || this == CHARGE;
	}

}
