package io.github.ratelimit.redis.connection;

import org.jspecify.annotations.Nullable;

/**
 * Calls that fail one after the other, though connections can be made: these break, or
 * are given up because they are silent. Safe for use by several threads.
 */
final class FailingCalls {

	private final long lasting;

	/** Since when; {@code null} if the last call was answered. */
	private volatile @Nullable Long since;

	private volatile boolean lasted;

	/** How long calls were silent meanwhile, over later connections. */
	private long silence;

	/** Until when the silence is known, so that connections do not add up theirs. */
	private long until;

	FailingCalls(long lasting) {
		this.lasting = lasting;
	}

	boolean isAny() {
		return this.since != null;
	}

	/** Returns whether they have failed for so long that the server is unavailable. */
	boolean haveLasted() {
		return this.lasted;
	}

	/** Notes that a call was answered, or that no connection can be made any more. */
	synchronized void forget() {
		this.since = null;
		this.lasted = false;
		this.silence = 0;
	}

	/**
	 * Notes that a connection broke over which calls were sent. Returns whether that
	 * lasts.
	 */
	synchronized boolean broken(long sentAt, long now) {
		if (this.since == null) {
			this.since = sentAt;
			this.until = now;
			return false;
		}
		boolean lasts = now - this.since >= this.lasting;
		this.lasted |= lasts;
		return lasts;
	}

	/**
	 * Notes that calls were silent until their connection was given up. Returns whether
	 * that lasts.
	 */
	synchronized boolean silent(long sentAt, long now) {
		if (this.since == null) {
			this.since = now;
			this.until = now;
		}
		else if (sentAt - this.since > 0) {
			this.silence += Math.min(now - sentAt, now - this.until);
			this.lasted |= this.silence >= this.lasting;
			this.until = now;
		}
		return this.lasted;
	}

}
