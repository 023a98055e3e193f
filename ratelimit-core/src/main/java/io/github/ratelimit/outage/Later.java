package io.github.ratelimit.outage;

/**
 * Runs probes when it is time for them.
 */
interface Later {

	void execute(Runnable probe);

	/** Forgets them. */
	default void close() {
	}

}
