package io.github.ratelimit.replay;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
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
import org.jspecify.annotations.Nullable;

/**
 * Searches for the smallest limits that would never have denied most clients.
 * <p>
 * Algorithms with windows count the same whatever the quota is, until they deny. So what
 * a client has used of a quota that it cannot exceed is the quota that it needs. Buckets
 * drain by their quota, and are refused.
 */
final class Spare {

	private final Policy largest;

	private final Map<Identifier, Client> clients = new HashMap<>();

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
		Client client = this.clients.computeIfAbsent(request.client(),
				(key) -> new Client(this.largest.limits().size()));
		Attempt attempt = Attempt.make(this.largest, client.state, request.micros());
		for (int i = 0; i < client.needs.length; i++) {
			long used = this.largest.limits().get(i).quota() - attempt.meter().remaining(i);
			client.needs[i] = Math.max(client.needs[i], (attempt.waits()[i] > 0) ? used + 1 : used);
		}
		if (attempt.isChange()) {
			client.state = attempt.meter().state();
		}
	}

	/**
	 * Returns the smallest limits. Together, they deny those clients that exceed one of
	 * the limits alone by most.
	 * @param percent how many clients must never have been denied, up to 100
	 */
	Found find(BigDecimal percent) {
		List<long[]> all = this.clients.values()
			.stream()
			.map((client) -> client.needs)
			.collect(Collectors.toCollection(ArrayList::new));
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

	/** What a client has used, and the most that it used of each limit. */
	private static final class Client {

		private final long[] needs;

		private @Nullable MeterState state;

		private Client(int limits) {
			this.needs = new long[limits];
		}

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
