package io.github.ratelimit.benchmarks.speed;

import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.benchmarks.OurLimiters;
import io.github.ratelimit.lease.LeasedRateLimiter;

/**
 * This library: each algorithm, and the complete rate limiter.
 */
final class OurContenders {

	/** Name of the system property with the time that a decision may take. */
	static final String BUDGET = "ratelimit.benchmarks.budget";

	/** The default of applications, so that slower decisions become visible. */
	private static final String DEFAULT_BUDGET = "PT0.1S";

	/** Never used up. */
	private static final String QUOTA = "1000000/m";

	private OurContenders() {
	}

	static Map<String, Function<URI, Contender>> all() {
		Map<String, Function<URI, Contender>> all = new LinkedHashMap<>();
		for (Algorithm algorithm : Algorithms.all()) {
			String quota = (algorithm instanceof SlidingLog) ? "100/m" : QUOTA;
			String name = "ours, " + algorithm.name() + ((algorithm instanceof SlidingLog) ? " 100/m" : "");
			Policy policy = Policy.of("api", algorithm, Limit.parse(quota));
			all.put(name, connected((ours) -> allowed(ours.scripts(), policy)));
		}
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse(QUOTA));
		all.put("ours, 3 limits x 2 identifiers", connected((ours) -> several(ours.scripts())));
		all.put("ours, plain commands", connected((ours) -> allowed(ours.plainCommands(), policy)));
		all.put("ours, whole stack", connected((ours) -> allowed(ours.wholeStack(), policy)));
		all.put("ours, denied from memory", connected((ours) -> denied(ours.wholeStack())));
		for (int identifiers : new int[] { 1, 100 }) {
			all.put("ours, leases of %d identifier%s".formatted(identifiers, (identifiers == 1) ? "" : "s"),
					(server) -> {
						OurLimiters ours = connect(server);
						LeasedRateLimiter leases = ours.leases();
						return Contender.of(leased(leases, identifiers), () -> {
							leases.close();
							ours.close();
						});
					});
		}
		return all;
	}

	/** Busy identifiers, and a quota that is never used up. */
	private static Predicate<String> leased(RateLimiter limiter, int identifiers) {
		Policy policy = Policy.of("api", new FixedWindow(), new Limit(Limit.MAX_QUOTA, Duration.ofHours(1)))
			.withLease(Duration.ofSeconds(1));
		List<Identifier> all = IntStream.range(0, identifiers).mapToObj((i) -> Identifier.user("user-" + i)).toList();
		return (user) -> limiter.tryAcquire(policy, all.get(ThreadLocalRandom.current().nextInt(identifiers)))
			.allowed();
	}

	private static Function<URI, Contender> connected(Function<OurLimiters, Predicate<String>> contender) {
		return (server) -> {
			OurLimiters ours = connect(server);
			return Contender.of(contender.apply(ours), ours::close);
		};
	}

	private static OurLimiters connect(URI server) {
		return OurLimiters.connect(server, Duration.parse(System.getProperty(BUDGET, DEFAULT_BUDGET)));
	}

	private static Predicate<String> allowed(RateLimiter limiter, Policy policy) {
		return (user) -> limiter.tryAcquire(policy, Identifier.user(user)).allowed();
	}

	private static Predicate<String> several(RateLimiter limiter) {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1000000/s"), Limit.parse("2000000/m"),
				Limit.parse("3000000/h"));
		return (user) -> limiter
			.tryAcquire(RateLimitRequest.of(policy, Identifier.user(user), new Identifier("device", user)))
			.allowed();
	}

	/** Each user is denied at least once before the measurement. */
	private static Predicate<String> denied(RateLimiter limiter) {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1/7d"));
		for (String user : DecisionBenchmark.USERS) {
			limiter.tryAcquire(policy, Identifier.user(user));
			limiter.tryAcquire(policy, Identifier.user(user));
		}
		return (user) -> !limiter.tryAcquire(policy, Identifier.user(user)).allowed();
	}

}
