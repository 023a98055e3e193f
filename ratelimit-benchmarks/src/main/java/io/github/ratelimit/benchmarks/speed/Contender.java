package io.github.ratelimit.benchmarks.speed;

import java.util.function.Predicate;

/**
 * A rate limiter or another operation to compare with. Safe for use by several threads.
 */
interface Contender extends AutoCloseable {

	/**
	 * Decides a request.
	 * @param user the user who makes it
	 * @return whether the answer is the expected one; by default that the request is
	 * allowed
	 */
	boolean decide(String user);

	@Override
	void close();

	static Contender of(Predicate<String> decide, Runnable close) {
		return new Contender() {

			@Override
			public boolean decide(String user) {
				return decide.test(user);
			}

			@Override
			public void close() {
				close.run();
			}

		};
	}

}
