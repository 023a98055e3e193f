package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.ConcurrentCalls;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.TokenBucket;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;

/**
 * Random sequences of operations. Several have requests of the same few forms, because a
 * script is composed for each: which policies, and which identifiers by each. Quotas,
 * costs and metadata vary. Forms share policies, so that what is counted is met again.
 */
final class OperationSequences {

	static final List<Identifier> IDENTIFIERS = List.of(Identifier.user("alice"), Identifier.ip("203.0.113.7"),
			Identifier.GLOBAL);

	/**
	 * In a sequence, which has half as many on average. If there were many more, the
	 * store in memory would look for what has ended, and would not know it any more when
	 * the clock is set back.
	 */
	private static final int MOST_OPERATIONS = 100;

	private static final int MOST_BATCHES = 20;

	private static final int MOST_SEQUENCES = 16;

	/** Long runs have more, because composing scripts takes longer than using them. */
	private static final int MOST_SEQUENCES_IN_CLUSTER = Integer.getInteger("ratelimit.cluster.sequences", 16);

	private static final int MOST_SEQUENCES_OF_BATCHES = 22;

	/** One policy for each algorithm and each of these sets of limits. */
	private static final List<List<String>> LIMITS = List.of(List.of("3/m"), List.of("5/s", "9/10s", "20/m"),
			List.of("2/ms", "4/7ms"), List.of("3/s", "6/d"), List.of("2/week", "4/month", "6/year"));

	private static final List<Algorithm> ALGORITHMS = Stream
		.concat(RedisFixture.algorithms(), Stream.of(new TokenBucket(2L), new TokenBucket(7L), new ConcurrentCalls()))
		.toList();

	static final List<Policy> POLICIES = ALGORITHMS.stream()
		.flatMap((algorithm) -> LIMITS.stream()
			.filter((limits) -> !hasZone(algorithm) || limits.contains("6/d") || limits.contains("6/year"))
			.filter((limits) -> algorithm instanceof FixedWindow || !limits.contains("6/year"))
			.filter((limits) -> !hasOneLimit(algorithm) || limits.size() == 1)
			.map((limits) -> policy(algorithm, limits)))
		.toList();

	/** Without the variants, which have the names of algorithms. */
	private static final Map<String, List<Policy>> BY_ALGORITHM = POLICIES.stream()
		.collect(Collectors.groupingBy((policy) -> policy.algorithm().name(), TreeMap::new, Collectors.toList()));

	private static final List<Duration> WINDOWS = POLICIES.stream()
		.flatMap((policy) -> policy.limits().stream())
		.filter((limit) -> limit.calendar() == null)
		.map(Limit::window)
		.distinct()
		.toList();

	/** A zone is refused where there is no window of whole days. */
	private static boolean hasZone(Algorithm algorithm) {
		return algorithm instanceof FixedWindow fixed && fixed.zone() != ZoneOffset.UTC;
	}

	private static boolean hasOneLimit(Algorithm algorithm) {
		return algorithm.countsCalls() || (algorithm instanceof TokenBucket bucket && bucket.burst() != null);
	}

	private static Policy policy(Algorithm algorithm, List<String> limits) {
		int number = ALGORITHMS.indexOf(algorithm) * LIMITS.size() + LIMITS.indexOf(limits);
		return new Policy(algorithm.code() + "-" + number, algorithm, limits.stream().map(Limit::parse).toList(),
				number % 2 == 1 && !algorithm.countsCalls());
	}

	private OperationSequences() {
	}

	/** Blocks in a fifth of them, because they keep requests from being counted. */
	static Arbitrary<List<List<Operation>>> all() {
		Arbitrary<Integer> kinds = Arbitraries.frequency(Tuple.of(8, 0), Tuple.of(1, 1), Tuple.of(1, 2));
		return Combinators.combine(forms(), kinds).flatAs((some, kind) -> listOf(MOST_SEQUENCES, switch (kind) {
			case 0 -> sequences(some, false);
			case 1 -> sequencesWithBlocks(some, false);
			default -> sequencesWithLastingBlocks(some);
		})).withoutEdgeCases();
	}

	/**
	 * Blocks in half of them, because each is known in one slot alone. Their clock is not
	 * set back, and buckets keep their quotas: a reservation that is cancelled may leave
	 * nothing of what had ended, and rounds the microseconds of another quota.
	 */
	static Arbitrary<List<List<Operation>>> inCluster() {
		return Combinators.combine(forms(), Arbitraries.of(true, false))
			.flatAs((some, blocks) -> listOf(MOST_SEQUENCES_IN_CLUSTER,
					blocks ? sequencesWithBlocks(some, true) : sequences(some, true)))
			.withoutEdgeCases();
	}

	private static Arbitrary<List<RateLimitRequest>> forms() {
		Arbitrary<List<Policy>> ofEachAlgorithm = Combinators
			.combine(BY_ALGORITHM.values().stream().map(Arbitraries::of).toList())
			.as((policies) -> policies);
		return Combinators.combine(ofEachAlgorithm, Arbitraries.of(POLICIES).set().ofMaxSize(1))
			.as((some, more) -> Stream.concat(some.stream(), more.stream()).distinct().toList())
			.flatMap((policies) -> forms(policies).list().ofMinSize(1).ofMaxSize(4));
	}

	private static Arbitrary<List<Operation>> sequences(List<RateLimitRequest> forms, boolean inCluster) {
		return listOf(MOST_OPERATIONS, Arbitraries.frequencyOf(Tuple.of(15, counts(forms, inCluster)),
				Tuple.of(4, times(inCluster).map(Operation::advance)), Tuple.of(5, waits(inCluster ? 0 : -1))));
	}

	/** Requests that are made at once, many of them in one form, and times in between. */
	static Arbitrary<List<List<List<Operation>>>> batches() {
		return Arbitraries.of(POLICIES).set().ofMinSize(1).ofMaxSize(3).flatMap((policies) -> {
			Arbitrary<List<RateLimitRequest>> forms = forms(List.copyOf(policies)).list().ofMinSize(1).ofMaxSize(3);
			Arbitrary<List<Operation>> time = times(false).map(Operation::advance).map(List::of);
			return forms.flatMap((some) -> listOf(MOST_SEQUENCES_OF_BATCHES, listOf(MOST_BATCHES, Arbitraries
				.frequencyOf(Tuple.of(3, together(some).list().ofMinSize(1).ofMaxSize(12)), Tuple.of(2, time)))));
		}).withoutEdgeCases();
	}

	private static Arbitrary<Operation> together(List<RateLimitRequest> forms) {
		Arbitrary<RateLimitRequest> requests = requests(forms, false);
		return Arbitraries.frequencyOf(Tuple.of(8, requests.map(Operation::acquire)),
				Tuple.of(1, requests.map(Operation::peek)), Tuple.of(1, requests.map(Operation::refund)),
				Tuple.of(1, requests.map(Operation::charge)));
	}

	/** Two of three policies have a penalty, every other one of them in shadow mode. */
	private static RateLimitRequest withPenalties(RateLimitRequest form) {
		return new RateLimitRequest(form.charges().stream().map((charge) -> {
			int number = POLICIES.indexOf(charge.policy());
			return (number % 3 == 0) ? charge : new Charge(
					charge.policy()
						.withPenalty(new Penalty(1 + number % 4, Duration.ofSeconds(1 + 20 * (number % 2)),
								Duration.ofMillis(3 + 800 * (number % 3)), Duration.ofSeconds(3), number % 4 < 2)),
					charge.identifiers(), charge.cost(), charge.shadow());
		}).toList());
	}

	/**
	 * Their clock is not set back, because a block that has ended may be forgotten, and
	 * may also be not yet.
	 */
	private static Arbitrary<List<Operation>> sequencesWithBlocks(List<RateLimitRequest> some, boolean inCluster) {
		List<RateLimitRequest> forms = some.stream().map(OperationSequences::withPenalties).toList();
		Arbitrary<Duration> lengths = micros(1_000, 20_000_000);
		return sequencesWithBlocks(counts(forms, inCluster), policies(forms), lengths,
				Arbitraries.frequencyOf(Tuple.of(3, times(true).map(Operation::advance)), Tuple.of(4, waits(0))));
	}

	/**
	 * Their clock is set back as well, because no block ends before the sequence does.
	 */
	private static Arbitrary<List<Operation>> sequencesWithLastingBlocks(List<RateLimitRequest> forms) {
		Arbitrary<Operation> times = times(false).filter((time) -> time.compareTo(Duration.ofDays(30)) < 0)
			.map(Operation::advance);
		return sequencesWithBlocks(counts(forms, false), policies(forms),
				Arbitraries.longs().between(3000, 3650).map(Duration::ofDays),
				Arbitraries.frequencyOf(Tuple.of(5, times), Tuple.of(2, edges(-1))));
	}

	private static Arbitrary<List<Operation>> sequencesWithBlocks(Arbitrary<Operation> counts, List<Policy> policies,
			Arbitrary<Duration> lengths, Arbitrary<Operation> times) {
		Arbitrary<String> names = Arbitraries.frequencyOf(Tuple.of(1, Arbitraries.just("")),
				Tuple.of(2, Arbitraries.of(policies).map(Policy::name)));
		Arbitrary<Identifier> identifiers = Arbitraries.of(IDENTIFIERS);
		Arbitrary<Operation> blocks = Combinators.combine(identifiers, names, lengths).as(Operation::block);
		Arbitrary<Operation> denials = Combinators
			.combine(Arbitraries.of(policies), identifiers, Arbitraries.longs().between(1, 3))
			.as((policy, identifier, number) -> Operation
				.countDenials(new Charge(policy, List.of(identifier), number)));
		Arbitrary<Operation> unblocks = Combinators.combine(identifiers, names).as(Operation::unblock);
		return listOf(MOST_OPERATIONS,
				Arbitraries.frequencyOf(Tuple.of(12, counts), Tuple.of(7, times), Tuple.of(4, blocks),
						Tuple.of(2, unblocks), Tuple.of(1, denials),
						Tuple.of(2, Arbitraries.create(Operation::listBlocks))));
	}

	private static <T> Arbitrary<List<T>> listOf(int most, Arbitrary<T> elements) {
		return elements.list().ofMaxSize(most).withSizeDistribution(RandomDistribution.uniform());
	}

	private static Arbitrary<Operation> counts(List<RateLimitRequest> forms, boolean inCluster) {
		Arbitrary<RateLimitRequest> requests = requests(forms, inCluster);
		Arbitrary<Identifier> identifiers = Arbitraries.of(IDENTIFIERS);
		List<Policy> policies = policies(forms);
		List<Policy> remembered = policies.stream()
			.filter((policy) -> policy.algorithm().keepsEntries() || policy.algorithm().keepsWindows())
			.toList();
		return Arbitraries.frequencyOf(Tuple.of(10, requests.map(Operation::acquire)), Tuple.of(2, leases(policies)),
				Tuple.of(1, requests.map(Operation::peek)), Tuple.of(2, requests.map(Operation::refund)),
				Tuple.of(1, requests.map(Operation::undone)), Tuple.of(1, requests.map(Operation::charge)),
				Tuple.of(1, Combinators.combine(Arbitraries.of(policies), identifiers).as(Operation::reset)),
				Tuple.of(1,
						Combinators.combine(Arbitraries.of(remembered.isEmpty() ? policies : remembered), identifiers)
							.as(Operation::history)));
	}

	/** What leases need: taking in advance, and giving back, perhaps late. */
	private static Arbitrary<Operation> leases(List<Policy> policies) {
		List<Policy> leased = policies.stream()
			.filter((policy) -> policy.algorithm().supportsLeases() && !policy.countDenied())
			.toList();
		if (leased.isEmpty()) {
			return Arbitraries.just(Operation.advance(Duration.ZERO));
		}
		Arbitrary<Identifier> identifiers = Arbitraries.of(IDENTIFIERS);
		Arbitrary<Long> costs = Arbitraries.longs().between(1, 6);
		Arbitrary<Duration> ago = Arbitraries
			.oneOf(WINDOWS.stream().map((window) -> micros(0, 1000 * window.toMillis())).toList());
		return Arbitraries.oneOf(Combinators.combine(Arbitraries.of(leased), identifiers, costs).as(Operation::reserve),
				Combinators.combine(Arbitraries.of(leased), identifiers, costs, ago).as(Operation::cancel));
	}

	private static List<Policy> policies(List<RateLimitRequest> forms) {
		return forms.stream().flatMap((form) -> form.charges().stream()).map(Charge::policy).distinct().toList();
	}

	/** To the end of an aligned window, or until the last request may be tried again. */
	private static Arbitrary<Operation> waits(long least) {
		return Arbitraries.frequencyOf(Tuple.of(2, edges(least)),
				Tuple.of(3, Arbitraries.longs().between(least, 1).map(Operation::awaitRetry)));
	}

	private static Arbitrary<Operation> edges(long least) {
		return Combinators.combine(Arbitraries.of(WINDOWS), Arbitraries.longs().between(least, 1))
			.as(Operation::advanceToEdge);
	}

	private static Arbitrary<RateLimitRequest> forms(List<Policy> policies) {
		return Arbitraries.of(policies)
			.set()
			.ofMinSize(1)
			.ofMaxSize(4)
			.flatMap((some) -> Combinators
				.combine(some.stream()
					.map((policy) -> Arbitraries.of(IDENTIFIERS)
						.set()
						.ofMinSize(1)
						.flatMap((identifiers) -> Arbitraries.frequency(Tuple.of(3, false), Tuple.of(1, true))
							.map((shadow) -> new Charge(policy, List.copyOf(identifiers), 1, shadow))))
					.toList())
				.as(RateLimitRequest::new));
	}

	private static Arbitrary<RateLimitRequest> requests(List<RateLimitRequest> forms, boolean inCluster) {
		return Arbitraries.oneOf(forms.stream().map((form) -> requests(form, inCluster)).toList());
	}

	private static Arbitrary<RateLimitRequest> requests(RateLimitRequest form, boolean inCluster) {
		Arbitrary<String> metadata = Arbitraries.frequencyOf(Tuple.of(2, Arbitraries.just("")),
				Tuple.of(2, Arbitraries.of("a", "request-1", "\uD83D\uDE00 \u00fc\u0000\n", "x".repeat(256))));
		Arbitrary<List<Charge>> charges = Combinators
			.combine(form.charges().stream().map((charge) -> charges(charge, inCluster)).toList())
			.as((some) -> some);
		// Few, so that calls are met again.
		Arbitrary<Long> calls = Arbitraries.of(0L, 1L, 2L, RateLimitRequest.MAX_CALL);
		return Combinators.combine(charges, metadata, calls).as(RateLimitRequest::new);
	}

	/**
	 * Mostly with the quotas as they are; sometimes with others, on the same Redis keys.
	 */
	private static Arbitrary<Charge> charges(Charge form, boolean inCluster) {
		boolean changes = !inCluster || !form.policy().algorithm().script().equals("bucket");
		Arbitrary<Policy> policies = Arbitraries.frequencyOf(Tuple.of(4, Arbitraries.just(form.policy())),
				Tuple.of(1, changes ? otherQuotas(form.policy()) : Arbitraries.just(form.policy())));
		return Combinators.combine(policies, costs())
			.as((policy, cost) -> new Charge(policy, form.identifiers(),
					cost.applyAsLong(policy.limits().stream().mapToLong(Limit::quota).min().orElseThrow()),
					form.shadow()));
	}

	private static Arbitrary<Policy> otherQuotas(Policy policy) {
		long most = largestQuota(policy.algorithm());
		Arbitrary<Long> quotas = Arbitraries.frequencyOf(Tuple.of(9, Arbitraries.longs().between(0, 12)),
				Tuple.of(1, Arbitraries.of(most, most - 1)));
		return quotas.list()
			.ofSize(policy.limits().size())
			.map((numbers) -> policy.withLimits(IntStream.range(0, numbers.size())
				.mapToObj((i) -> policy.limits().get(i).withQuota(numbers.get(i)))
				.toList()));
	}

	private static long largestQuota(Algorithm algorithm) {
		if (algorithm instanceof SlidingWindow) {
			return SlidingWindow.MAX_SUB_WINDOWS;
		}
		return (algorithm instanceof SlidingLog log && log.metadata()) ? SlidingLog.MAX_QUOTA_WITH_METADATA
				: algorithm.maxQuota();
	}

	/** Costs for quotas, not by flat maps, which take jqwik long. */
	private static Arbitrary<LongUnaryOperator> costs() {
		return Arbitraries.frequencyOf(Tuple.of(6, Arbitraries.just((quota) -> 1)), Tuple.of(3,
				Arbitraries.longs().between(0, 13).map((number) -> (quota) -> number % (Math.min(quota, 12) + 2))),
				Tuple.of(1, Arbitraries.of((quota) -> quota, (quota) -> quota + 1, (quota) -> Limit.MAX_QUOTA,
						(quota) -> Limit.MAX_QUOTA + 2, (quota) -> Long.MAX_VALUE)));
	}

	private static Arbitrary<Duration> micros(long least, long most) {
		return Arbitraries.longs().between(least, most).map((micros) -> Duration.of(micros, ChronoUnit.MICROS));
	}

	private static Arbitrary<Duration> times(boolean onlyOn) {
		Duration micro = Duration.of(1, ChronoUnit.MICROS);
		Stream<Duration> edges = WINDOWS.stream()
			.flatMap((window) -> Stream.of(window, window.plus(micro), window.minus(micro), window.multipliedBy(2)));
		Stream<Duration> back = WINDOWS.stream()
			.flatMap((window) -> Stream.of(window.negated(), window.plus(micro).negated(), window.dividedBy(-2)));
		Arbitrary<Duration> upToTwoWindows = Arbitraries
			.oneOf(WINDOWS.stream().map((window) -> micros(0, 2 * 1000 * window.toMillis())).toList());
		Arbitrary<Duration> on = Arbitraries.frequencyOf(Tuple.of(2, Arbitraries.of(Duration.ZERO, micro)),
				Tuple.of(3, Arbitraries.of(edges.toList())), Tuple.of(3, upToTwoWindows));
		return onlyOn ? on : Arbitraries.frequencyOf(Tuple.of(8, on), Tuple.of(2, Arbitraries.of(back.toList())),
				Tuple.of(1, Arbitraries.of(micro.negated(), Duration.ofDays(-40), Duration.ofDays(400))));
	}

}
