package io.github.ratelimit.replay;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.replay.Log.Request;

/**
 * Searches for the smallest limits that would never have denied most clients.
 * <p>
 * Algorithms with windows count the same whatever the quota is, until they deny. So what
 * a client has used of a quota that it cannot exceed is the quota that it needs. Buckets
 * drain by their quota, and are refused.
 */
final class Spare {

	private final Policy largest;

	private final Map<Identifier, long[]> needs = new HashMap<>();

	private Instant now = Instant.EPOCH;

	private final MemoryRateLimiter limiter = new MemoryRateLimiter(() -> this.now);

	/**
	 * @throws IllegalArgumentException if the algorithm has no windows
	 */
	Spare(Algorithm algorithm, List<Duration> windows) {
		if (algorithm instanceof LeakyBucket || algorithm instanceof TokenBucket) {
			throw new IllegalArgumentException(
					"Invalid algorithm (%s): --spare needs one with windows; see with --limits what a bucket denies."
						.formatted(algorithm.name()));
		}
		this.largest = new Policy(algorithm.name(), algorithm,
				windows.stream().map((window) -> new Limit(algorithm.maxQuota(), window)).toList());
	}

	void add(Request request) {
		this.now = Log.time(request.micros());
		long[] need = this.needs.computeIfAbsent(request.client(), (key) -> new long[this.largest.limits().size()]);
		Decision decision = this.limiter.tryAcquire(this.largest, request.client());
		for (int i = 0; i < need.length; i++) {
			long used = this.largest.limits().get(i).quota() - decision.statuses().get(i).remaining();
			need[i] = Math.max(need[i], decision.statuses().get(i).violated() ? used + 1 : used);
		}
	}

	/**
	 * Returns the smallest limits. Together, they deny those clients that exceed one of
	 * the limits alone by most.
	 * @param percent how many clients must never have been denied, up to 100
	 */
	Found find(BigDecimal percent) {
		List<long[]> all = new ArrayList<>(this.needs.values());
		int denied = BigDecimal.valueOf(100)
			.subtract(percent)
			.multiply(BigDecimal.valueOf(all.size()))
			.movePointLeft(2)
			.intValue();
		int spared = all.size() - denied;
		long[] alone = quotas((i) -> all.stream().mapToLong((need) -> need[i]).sorted().limit(spared));
		all.sort(Comparator.comparingDouble((need) -> excess(need, alone)));
		long[] together = quotas((i) -> all.stream().limit(spared).mapToLong((need) -> need[i]));
		return new Found(this.largest.algorithm(), percent, all.size(), limits(alone), limits(together),
				all.stream().filter((need) -> excess(need, together) > 1).count());
	}

	private long[] quotas(IntFunction<LongStream> needs) {
		return IntStream.range(0, this.largest.limits().size())
			.mapToLong((i) -> needs.apply(i).max().orElse(1))
			.toArray();
	}

	/** Returns how many times as much is needed as there is, in the worst window. */
	private static double excess(long[] need, long[] quotas) {
		return IntStream.range(0, need.length).mapToDouble((i) -> need[i] / (double) quotas[i]).max().orElse(0);
	}

	private List<Limit> limits(long[] quotas) {
		return IntStream.range(0, quotas.length)
			.filter((i) -> quotas[i] <= this.largest.limits().get(i).quota())
			.mapToObj((i) -> new Limit(quotas[i], this.largest.limits().get(i).window()))
			.toList();
	}

	/**
	 * The smallest limits, without those that the algorithm could not count.
	 *
	 * @param algorithm the algorithm
	 * @param percent how many clients were to be spared
	 * @param clients the number of clients
	 * @param alone the limits, each of which alone spares as many clients as demanded
	 * @param together the limits that spare as many clients if all are enforced
	 * @param denied the number of clients that these would have denied
	 */
	record Found(Algorithm algorithm, BigDecimal percent, long clients, List<Limit> alone, List<Limit> together,
			long denied) {

	}

}
