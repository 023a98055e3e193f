package io.github.ratelimit.replay;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.TokenBucket;
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

	private final Map<Identifier, MeterState> states = new HashMap<>();

	/** The most that each client has used of each limit, in the order of windows. */
	private final Map<Identifier, long[]> needs = new HashMap<>();

	/**
	 * @param windows limits whose windows are meant, whatever their quotas
	 * @throws IllegalArgumentException if the algorithm has no windows
	 */
	Spare(Algorithm algorithm, List<Limit> windows) {
		if (algorithm instanceof LeakyBucket || algorithm instanceof TokenBucket) {
			throw new IllegalArgumentException(
					"Invalid algorithm (%s): --spare needs one with windows; see with --limits what a bucket denies."
						.formatted(algorithm.name()));
		}
		this.largest = new Policy(algorithm.name(), algorithm,
				windows.stream().map((limit) -> limit.withQuota(algorithm.maxQuota())).toList());
	}

	void add(Request request) {
		Attempt attempt = Attempt.make(this.largest, this.states.get(request.client()), request.micros());
		if (attempt.isChange()) {
			this.states.put(request.client(), attempt.meter().state());
		}
		long[] need = this.needs.computeIfAbsent(request.client(), (key) -> new long[this.largest.limits().size()]);
		for (int i = 0; i < need.length; i++) {
			long used = this.largest.limits().get(i).quota() - attempt.meter().remaining(i);
			need[i] = Math.max(need[i], (attempt.waits()[i] > 0) ? used + 1 : used);
		}
	}

	/**
	 * Returns the smallest limits. Together, they deny those clients that exceed one of
	 * the limits alone by most.
	 * @param percent how many clients must never have been denied, up to 100
	 * @param covered how long the log is; nothing is known of longer windows
	 */
	Found find(BigDecimal percent, Duration covered) {
		List<Limit> windows = this.largest.limits();
		// Those that are left are the first, because windows ascend.
		int searched = (int) windows.stream().filter((limit) -> limit.window().compareTo(covered) <= 0).count();
		List<long[]> all = this.needs.values()
			.stream()
			.map((need) -> Arrays.copyOf(need, searched))
			.collect(Collectors.toCollection(ArrayList::new));
		int spared = percent.multiply(BigDecimal.valueOf(all.size()))
			.movePointLeft(2)
			.setScale(0, RoundingMode.CEILING)
			.intValue();
		long[] alone = quotas(searched, (i) -> all.stream().mapToLong((need) -> need[i]).sorted().limit(spared));
		all.sort(Comparator.comparingDouble((need) -> excess(need, alone)));
		long[] together = quotas(searched, (i) -> all.stream().limit(spared).mapToLong((need) -> need[i]));
		List<String> leftOut = IntStream.range(0, windows.size())
			.filter((i) -> i >= searched || !isCountable(together[i]))
			.mapToObj((i) -> windows.get(i).windowText()
					+ ((i < searched) ? " (needs too large a quota)" : " (longer than the log)"))
			.toList();
		return new Found(this.largest.algorithm(), percent, all.size(), limits(alone), limits(together), leftOut,
				all.stream().filter((need) -> excess(need, together) > 1).count());
	}

	private static long[] quotas(int windows, IntFunction<LongStream> needs) {
		return IntStream.range(0, windows).mapToLong((i) -> needs.apply(i).max().orElse(1)).toArray();
	}

	/** Returns how many times as much is needed as there is, in the worst window. */
	private static double excess(long[] need, long[] quotas) {
		return IntStream.range(0, need.length).mapToDouble((i) -> need[i] / (double) quotas[i]).max().orElse(0);
	}

	private List<Limit> limits(long[] quotas) {
		return IntStream.range(0, quotas.length)
			.filter((i) -> isCountable(quotas[i]))
			.mapToObj((i) -> this.largest.limits().get(i).withQuota(quotas[i]))
			.toList();
	}

	private boolean isCountable(long quota) {
		return quota <= this.largest.algorithm().maxQuota();
	}

	/**
	 * The smallest limits.
	 *
	 * @param algorithm the algorithm
	 * @param percent how many clients were to be spared
	 * @param clients the number of clients
	 * @param alone the limits, each of which alone spares as many clients as demanded
	 * @param together the limits that spare as many clients if all are enforced
	 * @param leftOut the windows without a limit, each with the reason
	 * @param denied the number of clients that the limits together would have denied
	 */
	record Found(Algorithm algorithm, BigDecimal percent, long clients, List<Limit> alone, List<Limit> together,
			List<String> leftOut, long denied) {

	}

}
