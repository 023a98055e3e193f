package io.github.ratelimit.lease;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiConsumer;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.Reservation;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.lease.LeasedRateLimiter.Key;
import io.github.ratelimit.memory.MemoryRateLimiter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several processes with leases of one store, which checks what they use: never more than
 * a quota in a window, and never more in advance than they used lately.
 */
final class Cluster {

	final VirtualTime time = new VirtualTime("2026-03-01T12:00:20.123456Z");

	final MemoryRateLimiter store = new MemoryRateLimiter(this.time);

	/** What was used, by policy, identifier, limit and end of the window. */
	private final Map<List<Object>, Long> used = new HashMap<>();

	final List<Process> processes = new ArrayList<>();

	/** What may be held by nobody any more, until its window ends. */
	private final Map<List<Object>, Long> lost = new HashMap<>();

	long calls;

	/**
	 * Starts a process.
	 * @param ppm by how much its clock is too fast
	 */
	Process start(Random random, long ppm) {
		Process process = new Process(random, ppm);
		this.processes.add(process);
		return process;
	}

	/** Notes a use in a window. */
	private void use(LimitStatus status, List<Object> window, long cost) {
		assertThat(status.resetAfter()).as("a window in which %s is counted", status.limit()).isPositive();
		assertThat(this.used.merge(window, cost, Long::sum)).as("used in %s", window)
			.isLessThanOrEqualTo(status.limit().quota());
	}

	private Map<LimitStatus, List<Object>> windows(Policy policy, Identifier identifier) {
		Map<LimitStatus, List<Object>> windows = new HashMap<>();
		statuses(policy, identifier).forEach((status) -> windows.put(status, window(status)));
		return windows;
	}

	List<LimitStatus> statuses(Policy policy, Identifier identifier) {
		return this.store.peek(RateLimitRequest.of(policy, identifier)).statuses();
	}

	private List<Object> window(LimitStatus status) {
		return List.of(status.policy().name(), status.identifier(), status.limit(),
				this.time.instant().truncatedTo(ChronoUnit.MICROS).plus(status.resetAfter()));
	}

	long used(LimitStatus status) {
		return this.used.getOrDefault(window(status), 0L);
	}

	long lost(LimitStatus status) {
		return this.lost.getOrDefault(window(status), 0L);
	}

	private void lose(Policy policy, Identifier identifier, long cost) {
		for (LimitStatus status : statuses(policy, identifier)) {
			this.lost.merge(window(status), cost, Long::sum);
		}
	}

	private static void forEach(RateLimitRequest request, BiConsumer<Charge, Key> each) {
		for (Charge charge : request.charges()) {
			charge.identifiers()
				.forEach((identifier) -> each.accept(charge, new Key(charge.policy().name(), identifier)));
		}
	}

	/** One process, whose calls may be slow, fail, or be answered by nobody. */
	final class Process {

		private final Random random;

		final LeasedRateLimiter limiter;

		private final VirtualTime.ProcessTimer timer;

		/** When which cost was used, by policy and identifier. */
		private final Map<Key, List<long[]>> uses = new HashMap<>();

		/** What was taken in advance, less what was used of it. */
		private final Map<Key, Long> held = new HashMap<>();

		/** What it may hold: what it had when it last took a part. */
		private final Map<Key, Long> allowance = new HashMap<>();

		/** Of a hundred calls so many are slow or fail, and cancellations arrive late. */
		int trouble;

		/** The charges that the store has been asked about in this decision. */
		private List<Key> asked = new ArrayList<>();

		Process(Random random, long ppm) {
			this.random = random;
			this.timer = Cluster.this.time.new ProcessTimer();
			this.limiter = new LeasedRateLimiter(new Store(), this.timer,
					Cluster.this.time.clock(random.nextLong(), ppm), 100);
		}

		/** A lease is used before the store is asked about the rest. */
		Decision acquire(RateLimitRequest request) {
			this.asked = new ArrayList<>();
			Map<Key, Map<LimitStatus, List<Object>>> windows = new HashMap<>();
			forEach(request, (charge, key) -> windows.put(key, windows(charge.policy(), key.identifier())));
			Decision decision = this.limiter.tryAcquire(request);
			if (decision.allowed()) {
				forEach(request, (charge, key) -> {
					if (!this.asked.contains(key)) {
						windows.get(key).forEach((status, window) -> use(status, window, charge.cost()));
						note(key, charge.cost());
						this.held.merge(key, -charge.cost(), Long::sum);
					}
				});
			}
			return decision;
		}

		/** Refunds at once what was allowed. */
		void refund(RateLimitRequest request) {
			forEach(request, (charge, key) -> statuses(charge.policy(), key.identifier()).forEach(
					(status) -> Cluster.this.used.computeIfPresent(window(status), (w, sum) -> sum - charge.cost())));
			this.asked = new ArrayList<>();
			this.limiter.refund(request);
			forEach(request, (charge, key) -> {
				if (!this.asked.contains(key)) {
					this.held.merge(key, charge.cost(), Long::sum);
				}
			});
		}

		private void note(Key key, long cost) {
			this.uses.computeIfAbsent(key, (same) -> new ArrayList<>())
				.add(new long[] { Cluster.this.time.nanos(), cost });
		}

		long held(Policy policy, Identifier identifier) {
			return this.held.getOrDefault(new Key(policy.name(), identifier), 0L);
		}

		long allowance(Policy policy, Identifier identifier) {
			return this.allowance.getOrDefault(new Key(policy.name(), identifier), 0L);
		}

		/** Ends as by kill -9. */
		void kill(List<Policy> policies, List<Identifier> identifiers) {
			this.timer.stop();
			Cluster.this.processes.remove(this);
			for (Policy policy : policies) {
				identifiers.forEach((identifier) -> lose(policy, identifier, held(policy, identifier)));
			}
		}

		void close() {
			this.limiter.close();
			Cluster.this.processes.remove(this);
		}

		private boolean happens() {
			return this.random.nextInt(100) < this.trouble;
		}

		/** The store as this process reaches it. */
		private final class Store extends DelegatingRateLimiter {

			Store() {
				super(Cluster.this.store);
			}

			/** Some seconds at most, in which windows end. */
			private void travel() {
				if (happens()) {
					Cluster.this.time.pass(Math.abs(Process.this.random.nextLong()) % 3_000_000_000L);
				}
			}

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				Cluster.this.calls++;
				travel();
				if (happens()) {
					throw new StoreException("lost", new IllegalStateException());
				}
				Decision decision = super.tryAcquire(request);
				forEach(request, (charge, key) -> {
					Process.this.asked.add(key);
					if (decision.allowed()) {
						windows(charge.policy(), key.identifier())
							.forEach((status, window) -> use(status, window, charge.cost()));
					}
				});
				travel();
				if (decision.allowed()) {
					forEach(request, (charge, key) -> note(key, charge.cost()));
				}
				return decision;
			}

			@Override
			public Reservation reserve(Policy policy, Identifier identifier, long cost) {
				Cluster.this.calls++;
				Key key = new Key(policy.name(), identifier);
				requireUsedLately(key, policy, cost);
				travel();
				Reservation reservation = super.reserve(policy, identifier, cost);
				if (reservation.decision().allowed()) {
					if (happens()) {
						lose(policy, identifier, cost);
						throw new StoreException("lost", new IllegalStateException());
					}
					this.take(key, cost);
				}
				travel();
				return reservation;
			}

			private void take(Key key, long cost) {
				Process.this.allowance.put(key, Process.this.held.merge(key, cost, Long::sum));
			}

			/** In one and a quarter times of the lease, as the Javadoc says. */
			private void requireUsedLately(Key key, Policy policy, long cost) {
				long since = Cluster.this.time.nanos() - policy.lease().toNanos() * 5 / 4 * 1001 / 1000;
				long lately = Process.this.uses.getOrDefault(key, List.of())
					.stream()
					.filter((use) -> use[0] >= since)
					.mapToLong((use) -> use[1])
					.sum();
				assertThat(cost).as("part").isLessThanOrEqualTo(lately);
			}

			@Override
			public void cancel(Policy policy, Identifier identifier, long cost, Instant reservedAt) {
				Cluster.this.calls++;
				Process.this.held.merge(new Key(policy.name(), identifier), -cost, Long::sum);
				if (happens()) {
					lose(policy, identifier, cost);
					Cluster.this.time.schedule(() -> Cluster.this.store.cancel(policy, identifier, cost, reservedAt),
							Math.abs(Process.this.random.nextLong()) % 30_000_000_000L);
					throw new StoreException("late", new IllegalStateException());
				}
				Cluster.this.store.cancel(policy, identifier, cost, reservedAt);
			}

			@Override
			public void refund(RateLimitRequest request) {
				forEach(request, (charge, key) -> Process.this.asked.add(key));
				super.refund(request);
			}

		}

	}

}
