package io.github.ratelimit.denial;

/**
 * How often the store was lately asked about an account that was known to deny a request,
 * to learn how long the request has to wait for the other accounts.
 */
final class Questions {

	private static final long SECOND = 1_000_000_000;

	private long since;

	private int number;

	/** Whether one more may be asked, which is then counted. */
	synchronized boolean mayAsk(long now, int maxASecond) {
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
