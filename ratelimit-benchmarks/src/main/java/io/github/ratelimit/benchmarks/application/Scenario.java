package io.github.ratelimit.benchmarks.application;

/**
 * The load of an application.
 *
 * @param name the name in the tables
 * @param limit the quota of a user
 * @param seconds the window of the limit
 * @param users number of users that send requests
 */
record Scenario(String name, long limit, long seconds, int users) {

	static final Scenario ALLOWED = new Scenario("allowed", 1_000_000, 60, 10_000);

	static final Scenario DENIED = new Scenario("denied", 5, 3600, 1);

	/**
	 * All requests are soon denied; an application that does not enforce this is wrong.
	 */
	static final Scenario USED_UP = new Scenario("used up by many", 5, 3600, 1000);

	/**
	 * Returns the number of wrong answers: more requests were allowed than all users
	 * together may send, or a request was denied although its user had not used up the
	 * limit.
	 */
	long wrong(Load load) {
		return (this == ALLOWED) ? load.refused() : Math.max(0, load.allowed() - this.limit * this.users);
	}

}
