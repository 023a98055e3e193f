package io.github.ratelimit.benchmarks;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;

/**
 * The traffic of the pictures: a client sends one request per second for three windows,
 * starting in the middle of a window, and pauses. Then it sends ten per second around the
 * edge of a window, and one per second again.
 */
final class BurstTraffic {

	static final Limit LIMIT = Limit.parse("20/m");

	/** The middle of a window. */
	static final Instant START = Instant.parse("2026-03-01T12:00:30Z");

	/** Duration of the traffic, in seconds. */
	static final int SECONDS = 360;

	private static final int PAUSE = 180;

	private static final int BURST = 267;

	private static final int BURST_END = 273;

	private static final int BURST_TRIES = 10;

	private BurstTraffic() {
	}

	/**
	 * Sends the traffic.
	 * @return the decisions of each second
	 */
	static List<Second> send(Algorithm algorithm) {
		SettableClock clock = new SettableClock(START);
		RateLimiter limiter = new MemoryRateLimiter(clock);
		Policy policy = Policy.of("burst", algorithm, LIMIT);
		List<Instant> admitted = new ArrayList<>();
		List<Second> seconds = new ArrayList<>();
		for (int second = 0; second < SECONDS; second++) {
			int before = admitted.size();
			int tries = tries(second);
			clock.set(START.plusSeconds(second));
			int most = inLastWindow(admitted, clock.instant());
			for (int i = 0; i < tries; i++) {
				clock.set(START.plusSeconds(second).plus(Duration.ofSeconds(1).dividedBy(tries).multipliedBy(i)));
				if (limiter.tryAcquire(policy, Identifier.GLOBAL).allowed()) {
					admitted.add(clock.instant());
				}
				most = Math.max(most, inLastWindow(admitted, clock.instant()));
			}
			seconds.add(new Second(admitted.size() - before, tries - (admitted.size() - before), most));
		}
		return seconds;
	}

	private static int tries(int second) {
		if (second < PAUSE) {
			return 1;
		}
		if (second < BURST) {
			return 0;
		}
		return (second < BURST_END) ? BURST_TRIES : 1;
	}

	private static int inLastWindow(List<Instant> admitted, Instant now) {
		Instant start = now.minus(LIMIT.window());
		return (int) admitted.stream().filter((time) -> time.isAfter(start)).count();
	}

	/**
	 * The decisions of one second.
	 *
	 * @param admitted requests that were admitted
	 * @param denied requests that were denied
	 * @param inLastWindow most requests admitted in a window that ends in this second
	 */
	record Second(int admitted, int denied, int inLastWindow) {

	}

}
