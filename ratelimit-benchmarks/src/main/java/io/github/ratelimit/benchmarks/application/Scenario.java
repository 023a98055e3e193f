package io.github.ratelimit.benchmarks.application;

/**
 * What an application is asked.
 *
 * @param name for the tables
 * @param limit how many requests of a user are allowed
 * @param seconds in so many seconds
 * @param users how many send requests
 */
record Scenario(String name, long limit, long seconds, int users) {

	static final Scenario ALLOWED = new Scenario("allowed", 1_000_000, 60, 10_000);

	static final Scenario DENIED = new Scenario("denied", 5, 3600, 1);

	/** Soon all are denied: who is not enforced then is allowed too often. */
	static final Scenario USED_UP = new Scenario("used up by many", 5, 3600, 1000);

	/**
	 * How many answers were wrong: more were allowed than all users together may, or one
	 * was denied who had not used up the limit.
	 */
	long wrong(Load load) {
		return (this == ALLOWED) ? load.refused() : Math.max(0, load.allowed() - this.limit * this.users);
	}

}
