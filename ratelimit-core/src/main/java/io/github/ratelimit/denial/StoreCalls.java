package io.github.ratelimit.denial;

/**
 * How often the store was lately asked about requests that it was known to deny, to learn
 * how long they have to wait.
 */
final class StoreCalls {

	private static final long SECOND = 1_000_000_000;

	private long since;

	private int number;

	/** Returns whether it may be asked once more, and counts that. */
	synchronized boolean allow(long now, int maxASecond) {
		if (this.number == 0 || now - this.since >= SECOND) {
			this.since = now;
			this.number = 0;
		}
		if (this.number >= maxASecond) {
			return false;
		}
		this.number++;
		return true;
	}

}
