package io.github.ratelimit.spring.actuate;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.DecisionListener;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.github.ratelimit.spring.actuate.RateLimitsDescriptor.PolicyDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * Counts the denied requests of each policy and identifier over the last minutes in this
 * instance, from all sources of decisions. Allowed requests are not counted.
 * <p>
 * The {@value #MAX_ENTRIES} most frequent entries of a policy are kept; Caffeine selects
 * them by frequency. A count is never too high. It is too low if the entry was evicted in
 * between, which happens to rarely denied identifiers.
 * <p>
 * Safe for use by several threads.
 */
final class MostDenied implements DecisionListener {

	/** Number of minutes that are counted, including the current one. */
	static final int MINUTES = 5;

	/** Maximum number of entries of a policy. */
	static final int MAX_ENTRIES = 100;

	private static final long MINUTE = Duration.ofMinutes(1).toNanos();

	private final UnaryOperator<Identifier> shown;

	private final LongSupplier nanos;

	/** Entries by the name of the policy. */
	private final Map<String, Cache<Entry, Counts>> policies = new ConcurrentHashMap<>();

	MostDenied(UnaryOperator<Identifier> shown, LongSupplier nanos) {
		this.shown = shown;
		this.nanos = nanos;
	}

	@Override
	public void decided(PolicyDecision decision) {
		Outcome outcome = decision.outcome();
		if (outcome != Outcome.DENIED && outcome != Outcome.BLOCKED && outcome != Outcome.SHADOW_DENIED) {
			return;
		}
		String policy = decision.policy().policy().name();
		Cache<Entry, Counts> known = this.policies.get(policy);
		Cache<Entry, Counts> counts = (known != null) ? known
				: this.policies.computeIfAbsent(policy, (name) -> newCache());
		long minute = minute();
		for (Identifier identifier : denied(decision)) {
			counts.get(new Entry(identifier, outcome), (key) -> new Counts()).add(minute);
		}
	}

	private Cache<Entry, Counts> newCache() {
		return Caffeine.newBuilder()
			.executor(Runnable::run)
			.ticker(this.nanos::getAsLong)
			.maximumSize(MAX_ENTRIES)
			.expireAfterAccess(Duration.ofMinutes(MINUTES))
			.build();
	}

	/**
	 * Returns the denied identifiers. A decision does not contain which of its
	 * identifiers is blocked, so all of them count, except the global one.
	 */
	private static Set<Identifier> denied(PolicyDecision decision) {
		Set<Identifier> denied = new HashSet<>();
		if (decision.outcome() == Outcome.BLOCKED || decision.violated().isEmpty()) {
			denied.addAll(decision.charge().identifiers());
			denied.remove(Identifier.GLOBAL);
		}
		else {
			decision.violated().forEach((status) -> denied.add(status.identifier()));
		}
		return denied;
	}

	/**
	 * Returns the identifiers that were denied most in the last minutes, in descending
	 * order.
	 * @param identifier the only identifier to return; {@code null} for all
	 * @param policy name of the only policy to return; {@code null} for all
	 * @param size the maximum number to return for each policy
	 */
	List<Denied> list(@Nullable Identifier identifier, @Nullable String policy, int size) {
		long minute = minute();
		Comparator<Denied> order = Comparator.comparingLong(Denied::requests)
			.reversed()
			.thenComparing(Denied::policy)
			.thenComparing(Denied::identifier)
			.thenComparing(Denied::outcome);
		return this.policies.entrySet()
			.stream()
			.filter((counts) -> policy == null || policy.equals(counts.getKey()))
			.flatMap((counts) -> counts.getValue()
				.asMap()
				.entrySet()
				.stream()
				.filter((each) -> identifier == null || identifier.equals(each.getKey().identifier()))
				.map((each) -> describe(counts.getKey(), each.getKey(), each.getValue().at(minute)))
				.filter((each) -> each.requests() > 0)
				.sorted(order)
				.limit(size))
			.sorted(order)
			.toList();
	}

	private Denied describe(String policy, Entry entry, List<Long> byMinute) {
		return new Denied(policy, this.shown.apply(entry.identifier()).toString(),
				PolicyDescriptor.text(entry.outcome()), byMinute.stream().mapToLong(Long::longValue).sum(), byMinute);
	}

	private long minute() {
		return Math.floorDiv(this.nanos.getAsLong(), MINUTE);
	}

	/**
	 * The recently denied requests of an identifier.
	 *
	 * @param identifier the identifier, with a hash instead of its value if a secret is
	 * set
	 * @param outcome {@code denied}, {@code blocked} or {@code shadow-denied}
	 * @param byMinute the number in each minute; the last is the current one
	 */
	record Denied(String policy, String identifier, String outcome, long requests, List<Long> byMinute) {

	}

	/** A denied identifier, and the outcome. */
	private record Entry(Identifier identifier, Outcome outcome) {

	}

	/** Numbers of requests in the last minutes. */
	private static final class Counts {

		private final long[] counts = new long[MINUTES];

		private long newest = Long.MIN_VALUE;

		synchronized void add(long minute) {
			advance(minute);
			this.counts[Math.floorMod(minute, MINUTES)]++;
		}

		/** Returns the numbers, the oldest first. */
		synchronized List<Long> at(long minute) {
			advance(minute);
			// A minute may have begun since the caller looked.
			return LongStream.rangeClosed(this.newest - MINUTES + 1, this.newest)
				.map((each) -> this.counts[Math.floorMod(each, MINUTES)])
				.boxed()
				.toList();
		}

		private void advance(long minute) {
			for (long each = Math.max(this.newest, minute - MINUTES) + 1; each <= minute; each++) {
				this.counts[Math.floorMod(each, MINUTES)] = 0;
			}
			this.newest = Math.max(this.newest, minute);
		}

	}

}
