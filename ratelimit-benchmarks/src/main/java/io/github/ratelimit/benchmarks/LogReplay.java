package io.github.ratelimit.benchmarks;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;

/**
 * Decides the requests of an access log with a limit for each client, at the times of the
 * log, and compares algorithms with the exact one.
 */
final class LogReplay {

	private final List<LogLine> lines;

	private final Limit limit;

	private final List<Boolean> exact;

	/**
	 * Replays the log with {@code sliding-log}.
	 * @param lines the requests, by time
	 * @param limit the limit of each client
	 */
	LogReplay(List<LogLine> lines, Limit limit) {
		this.lines = lines;
		this.limit = limit;
		this.exact = decisions(new SlidingLog());
	}

	/** Returns the number of requests that the exact algorithm denies. */
	long denied() {
		return this.exact.stream().filter((allowed) -> !allowed).count();
	}

	/** Replays the log with another algorithm and compares the decisions. */
	Difference difference(Algorithm algorithm) {
		List<Boolean> decisions = decisions(algorithm);
		int admitted = 0;
		int denied = 0;
		for (int i = 0; i < decisions.size(); i++) {
			if (decisions.get(i) && !this.exact.get(i)) {
				admitted++;
			}
			else if (!decisions.get(i) && this.exact.get(i)) {
				denied++;
			}
		}
		return new Difference(admitted, denied);
	}

	private List<Boolean> decisions(Algorithm algorithm) {
		SettableClock clock = new SettableClock(this.lines.get(0).time());
		RateLimiter limiter = new MemoryRateLimiter(clock);
		Policy policy = Policy.of("log", algorithm, this.limit);
		List<Boolean> decisions = new ArrayList<>(this.lines.size());
		for (LogLine line : this.lines) {
			clock.set(line.time());
			decisions.add(limiter.tryAcquire(policy, new Identifier("client", line.client())).allowed());
		}
		return decisions;
	}

	/**
	 * How decisions differ from the exact ones.
	 *
	 * @param admitted requests that were admitted though the exact algorithm denied them
	 * @param denied requests that were denied though the exact algorithm admitted them
	 */
	record Difference(int admitted, int denied) {

		int total() {
			return this.admitted + this.denied;
		}

	}

}
