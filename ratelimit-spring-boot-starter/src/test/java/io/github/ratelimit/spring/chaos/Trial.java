package io.github.ratelimit.spring.chaos;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Steady load on several instances of an application, while something happens to their
 * Redis. Whatever it is: no client gets an error or waits for long, no thread hangs, and
 * all instances limit again by themselves afterwards.
 * <p>
 * The system property {@code ratelimit.chaos.requests} says how many requests are counted
 * before and after each fault.
 */
final class Trial {

	static final long REQUESTS = Long.getLong("ratelimit.chaos.requests", 300);

	static final Duration BUDGET = Duration.ofMillis(200);

	/** What a master that dies has not passed on is less than what came in that time. */
	static final Duration LAG = Duration.ofSeconds(1);

	/** Much longer than anything takes, because machines of tests are busy. */
	static final Duration SOON = Duration.ofSeconds(20);

	private static final Logger logger = LoggerFactory.getLogger(Trial.class);

	private static final Duration POLL = Duration.ofMillis(20);

	/** How many requests use up a quota in the end. */
	private static final long LEFT = 100;

	private final Fleet fleet;

	private final List<String> users;

	private final List<String> others;

	/**
	 * Sends nothing yet.
	 * @param users whose requests they are
	 * @param others who find out whether all instances limit them
	 */
	Trial(Fleet fleet, List<String> users, List<String> others) {
		this.fleet = fleet;
		this.users = users;
		this.others = others;
	}

	/**
	 * Lets something happen.
	 * @param fault ends when Redis could answer again, or begins to mend itself
	 */
	Outcome survive(String name, Fault fault) {
		Set<Integer> reporting = new HashSet<>();
		Duration recovery;
		Traffic traffic = new Traffic(this.fleet.addresses(), this.users);
		try (traffic) {
			awaitCounted(traffic, REQUESTS);
			fault.happen(traffic);
			long over = System.nanoTime();
			await().pollInterval(POLL).atMost(SOON).until(() -> {
				reporting.addAll(this.fleet.reporting());
				return this.fleet.limits(this.others);
			});
			recovery = Duration.ofNanos(System.nanoTime() - over);
			awaitCounted(traffic, REQUESTS);
		}
		Outcome outcome = new Outcome(this.users.stream()
			.map((user) -> new Outcome.OfUser(user, traffic.counted(user), traffic.uncounted(user),
					this.fleet.used(user)))
			.toList(), traffic.slowest(), reporting, recovery);
		logger.info("{}: {}", name, outcome);
		assertThat(traffic.statuses()).containsExactly(200);
		assertThat(traffic.slowest()).isLessThan(SOON);
		assertNoThreadHangs();
		return outcome;
	}

	/**
	 * Uses up a user's quota, and finds out whether it was the whole: what was admitted
	 * is no more than the quota and what was lost of the counts, and no less than the
	 * quota without what was counted though clients were not told so.
	 * @param lost how much may be lost
	 */
	void assertQuota(Outcome outcome, String user, long lost) {
		Outcome.OfUser before = outcome.of(user);
		long charged = this.fleet.leave(user, LEFT);
		Traffic traffic = new Traffic(this.fleet.addresses(), List.of(user));
		try (traffic) {
			await().atMost(SOON).until(() -> traffic.denied() >= LEFT);
		}
		assertThat(traffic.statuses()).containsExactlyInAnyOrder(200, 429);
		long admitted = before.counted() + charged + traffic.counted(user);
		logger.info("Admitted of {}: {} more than the quota", Fleet.QUOTA, admitted - Fleet.QUOTA);
		assertThat(admitted).isBetween(Fleet.QUOTA - before.uncounted() - traffic.uncounted(), Fleet.QUOTA + lost);
	}

	/**
	 * A thread may look in the background who has which slot. One that has nothing to do
	 * waits for ten seconds before it ends: that is not hanging.
	 */
	private static void assertNoThreadHangs() {
		await().atMost(SOON)
			.untilAsserted(() -> assertThat(Thread.getAllStackTraces().values()).as("threads that wait for Redis")
				.noneSatisfy((stack) -> assertThat(stack)
					.anyMatch((frame) -> frame.getClassName().startsWith("io.github.ratelimit.redis."))
					.noneMatch((frame) -> frame.getMethodName().equals("awaitCalls"))));
	}

	/** Until so many more requests are counted, of all users alike. */
	void awaitCounted(Traffic traffic, long more) {
		List<Long> least = this.users.stream().map((user) -> traffic.counted(user) + more / this.users.size()).toList();
		await().atMost(SOON.plusMillis(10 * more))
			.until(() -> IntStream.range(0, least.size())
				.allMatch((i) -> traffic.counted(this.users.get(i)) >= least.get(i)));
	}

	/** Until all instances report that the store fails, and many requests were served. */
	void awaitOutage(Traffic traffic) {
		await().atMost(SOON).until(this.fleet::reportsOutage);
		awaitUncounted(traffic);
	}

	/** Until many requests were served that the store has not decided. */
	void awaitUncounted(Traffic traffic) {
		long before = traffic.uncounted();
		await().atMost(SOON).until(() -> traffic.uncounted() >= before + 100);
	}

	/** Something that happens to Redis. */
	interface Fault {

		void happen(Traffic traffic);

	}

}
