package io.github.ratelimit.redis.script;

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

	/** Reads what one policy has stored for one identifier. */
	HISTORY;

	boolean decides() {
		return this == ACQUIRE || this == PEEK || this == RESERVE || this == CANCEL;
	}

	/** Returns whether it uses the cost if that is allowed. */
	boolean acquires() {
		return this == ACQUIRE || this == RESERVE;
	}

	/** Returns whether it may use the cost. */
	boolean uses() {
		return acquires() || this == CHARGE;
	}

}
