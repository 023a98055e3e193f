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
import io.github.ratelimit.spring.Outcome;
import io.github.ratelimit.spring.PolicyDecision;
import org.jspecify.annotations.Nullable;

/**
 * Counts the denied requests of each policy and identifier over the last minutes, in this
 * instance, wherever the decision came from. Allowed requests are not counted.
 * <p>
 * A policy keeps its most frequent {@value #MAX_ENTRIES}; Caffeine chooses them by how
 * often they were counted. A count is never too high. It is too low if the entry was
 * evicted meanwhile, which happens to those that are rare among the denied.
 * <p>
 * Safe for use by several threads.
 */
final class MostDenied implements DecisionListener {

	/** How many minutes are counted: the present one and those before it. */
	static final int MINUTES = 5;

	/** How many entries a policy keeps. */
	static final int MAX_ENTRIES = 100;

	private static final long MINUTE = Duration.ofMinutes(1).toNanos();

	private final UnaryOperator<Identifier> shown;

	private final LongSupplier nanos;

	/** By the name of the policy: there are as many as are configured. */
	private final Map<String, Cache<Entry, Counts>> policies = new ConcurrentHashMap<>();

	/**
	 * Creates counts.
	 * @param shown returns an identifier as people may see it
	 * @param nanos the clock, in nanoseconds from any time
	 */
	MostDenied(UnaryOperator<Identifier> shown, LongSupplier nanos) {
		this.shown = shown;
		this.nanos = nanos;
	}

	@Override
	public void decided(PolicyDecision decision) {
		switch (decision.outcome()) {
			case DENIED, BLOCKED, SHADOW_DENIED -> count(decision);
			case ALLOWED, DENIED_BY_OTHER, STORE_FAILED_ALLOWED, STORE_FAILED_DENIED -> {
			}
		}
	}

	private void count(PolicyDecision decision) {
		String policy = decision.charge().policy().policy().name();
		Cache<Entry, Counts> known = this.policies.get(policy);
		Cache<Entry, Counts> counts = (known != null) ? known
				: this.policies.computeIfAbsent(policy, (name) -> newCache());
		long minute = minute();
		for (Identifier identifier : denied(decision)) {
			counts.get(new Entry(identifier, decision.outcome()), (key) -> new Counts()).add(minute);
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
	 * A decision does not tell which of its identifiers is blocked, so all count, except
	 * the one that everybody shares.
	 */
	private static Set<Identifier> denied(PolicyDecision decision) {
		Set<Identifier> denied = new HashSet<>();
		if (decision.outcome() == Outcome.BLOCKED || decision.violated().isEmpty()) {
			denied.addAll(decision.charge().charge().identifiers());
			denied.remove(Identifier.GLOBAL);
		}
		else {
			decision.violated().forEach((status) -> denied.add(status.identifier()));
		}
		return denied;
	}

	/**
	 * Returns who was denied most in the last minutes, from the most denied.
	 * @param identifier the only identifier to return; {@code null} for all
	 * @param policy name of the only policy to return; {@code null} for all
	 * @param size how many to return of each policy at most
	 */
	List<DeniedDescriptor> list(@Nullable Identifier identifier, @Nullable String policy, int size) {
		long minute = minute();
		Comparator<DeniedDescriptor> order = Comparator.comparingLong(DeniedDescriptor::requests)
			.reversed()
			.thenComparing(DeniedDescriptor::policy)
			.thenComparing(DeniedDescriptor::identifier)
			.thenComparing(DeniedDescriptor::outcome);
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

	private DeniedDescriptor describe(String policy, Entry entry, List<Long> byMinute) {
		return DeniedDescriptor.of(policy, this.shown.apply(entry.identifier()), entry.outcome(), byMinute);
	}

	private long minute() {
		return Math.floorDiv(this.nanos.getAsLong(), MINUTE);
	}

	/** Who was denied, and how. */
	private record Entry(Identifier identifier, Outcome outcome) {

	}

	/** Requests of each of the last minutes. */
	private static final class Counts {

		private final long[] counts = new long[MINUTES];

		private long newest = Long.MIN_VALUE;

		synchronized void add(long minute) {
			advance(minute);
			this.counts[Math.floorMod(minute, MINUTES)]++;
		}

		/** The oldest first. */
		synchronized List<Long> at(long minute) {
			advance(minute);
			return LongStream.rangeClosed(minute - MINUTES + 1, minute)
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
