package io.github.ratelimit.benchmarks.speed;

import java.util.function.Predicate;

/**
 * Something that decides requests, or that is compared with that. Safe for use by several
 * threads.
 */
interface Contender extends AutoCloseable {

	/**
	 * Decides a request.
	 * @param user who makes it
	 * @return whether the answer is the one that is measured: allowed, if nothing else is
	 * said
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
