package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Logs so large that they are read in pieces and written in place. Whatever happens to
 * them is compared with the store in memory.
 */
class LargeLogIT extends RedisFixture {

	private static final int HEADER = 4;

	private static final int WIDTH = 10;

	/** Entries of the largest state that is read whole, the base among them. */
	private static final int SMALL = (16384 - HEADER) / WIDTH;

	private final MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);

	private final Policy policy = policy(new SlidingLog(), "2000/m");

	@BeforeEach
	void loadScript() {
		RateLimitRequest other = RateLimitRequest.of(this.policy, Identifier.user("loads"));
		this.clocked.peek(other);
		this.clocked.tryAcquire(other);
		this.clocked.tryAcquire(RateLimitRequest.of(this.policy.withCountDenied(true), Identifier.user("loads too")));
	}

	static Stream<Policy> policies() {
		Policy one = policy(new SlidingLog(), "2500/m");
		Policy largeCosts = policy(new SlidingLog(), "100000/m");
		return Stream.of(one, policy(new SlidingLog(), "150/s", "2500/m"),
				policy(new SlidingLog(), "150/s", "1700/20s", "4000/m"), largeCosts,
				policy(new SlidingWindow(Duration.ofMillis(20)), "400/s", "60000/m"), one.withCountDenied(true),
				largeCosts.withCountDenied(true));
	}

	@ParameterizedTest
	@MethodSource("policies")
	void redisAndMemoryComeToTheSameDecisions(Policy policy) {
		Random random = new Random(1);
		int most = 0;
		for (int step = 0; step < 6000; step++) {
			decide(request(policy, cost(random, policy, step)));
			most = Math.max(most, (int) this.jedis.strlen(key(policy)));
			if (step > 3500 && random.nextInt(20) == 0) {
				disturb(random, policy);
			}
			long micros = random.nextInt(6) == 0 ? 0 : random.nextInt(34_000);
			this.clock.advance(Duration.of(micros, ChronoUnit.MICROS));
		}
		assertThat(most).isGreaterThan(16384);
		compareEntries(policy);
	}

	private void compareEntries(Policy policy) {
		if (policy.algorithm().keepsEntries()) {
			assertThat(all(this.clocked, policy)).isEqualTo(all(this.memory, policy)).isNotEmpty();
		}
	}

	private static List<LogEntry> all(RequestHistory history, Policy policy) {
		List<LogEntry> all = new ArrayList<>();
		List<LogEntry> page = history.entries(policy, ALICE);
		while (!page.isEmpty()) {
			all.addAll(page);
			Instant last = page.get(page.size() - 1).time();
			page = history.entries(policy, ALICE, RequestHistory.MAX_ENTRIES, last);
		}
		return all;
	}

	private static long cost(Random random, Policy policy, int step) {
		long largest = policy.limits().get(policy.limits().size() - 1).quota();
		return (step > 3500 && largest > 50_000 && random.nextInt(10) == 0) ? random.nextLong(largest)
				: (random.nextInt(8) == 0) ? random.nextInt(4) : 1;
	}

	private void disturb(Random random, Policy policy) {
		RateLimitRequest request = request(policy, 1 + random.nextInt(40));
		switch (random.nextInt(12)) {
			case 0, 1 -> {
				this.clocked.refund(request);
				this.memory.refund(request);
			}
			case 2 -> this.clock.advance(Duration.of(-random.nextInt(3_000_000), ChronoUnit.MICROS));
			case 3 -> this.clock.advance(Duration.of(random.nextInt(20_000_000), ChronoUnit.MICROS));
			case 4 -> this.clock.advance(Duration.of(-random.nextInt(100_000), ChronoUnit.MICROS));
			case 5 -> compareEntries(policy);
			case 6 -> {
				List<Limit> halved = new ArrayList<>();
				policy.limits().forEach((limit) -> halved.add(new Limit(limit.quota() / 2 + 1, limit.window())));
				Policy other = new Policy(policy.name(), policy.algorithm(), halved, policy.countDenied());
				decide(RateLimitRequest.of(other, ALICE));
			}
			default -> assertThat(this.clocked.peek(request)).isEqualTo(this.memory.peek(request));
		}
	}

	@Test
	void requestIsEnteredInPlaceWithoutReadingTheLog() throws InterruptedException {
		fill(1800);
		try (RedisMonitor monitor = RedisMonitor.start(this.keyPrefix)) {
			this.clocked.tryAcquire(this.policy, ALICE);
			assertThat(monitor.commands()).containsExactly("EVALSHA", " MGET", " STRLEN", " GETRANGE", " GETRANGE",
					" GETRANGE", " SETRANGE", " PEXPIRE");
		}
	}

	@Test
	void deniedRequestReadsPiecesAndWritesOnlyIfItCounts() throws InterruptedException {
		fill(2000);
		byte[] before = this.jedis.dump(key(this.policy));
		try (RedisMonitor monitor = RedisMonitor.start(this.keyPrefix)) {
			assertThat(this.clocked.tryAcquire(this.policy, ALICE).allowed()).isFalse();
			assertThat(monitor.commands()).containsExactly("EVALSHA", " MGET", " STRLEN", " GETRANGE", " GETRANGE",
					" GETRANGE");
			assertThat(this.jedis.dump(key(this.policy))).isEqualTo(before);
			monitor.commands();
			decide(RateLimitRequest.of(this.policy.withCountDenied(true), ALICE));
			assertThat(monitor.commands()).contains(" SETRANGE", " PEXPIRE").doesNotContain(" SET");
		}
	}

	static Stream<Arguments> edgesOfLargeLogs() {
		Duration precision = Duration.ofMillis(10);
		return Stream.of(Arguments.of(policy(new SlidingLog(), (SMALL - 1) + "/m"), false),
				Arguments.of(policy(new SlidingLog(), SMALL + "/m"), true),
				Arguments.of(policy(new SlidingLog(true), "1000/m"), false),
				Arguments.of(policy(new SlidingWindow(precision), "5000/13630ms"), false),
				Arguments.of(policy(new SlidingWindow(precision), "5000/13640ms"), true));
	}

	/** The others are read with the states of other policies. */
	@ParameterizedTest
	@MethodSource("edgesOfLargeLogs")
	void onlyALogThatMayBeLargeIsReadSeparately(Policy policy, boolean large) throws InterruptedException {
		this.clocked.peek(request(policy, 1));
		this.clocked.tryAcquire(request(policy, 1));
		try (RedisMonitor monitor = RedisMonitor.start(this.keyPrefix)) {
			this.clocked.peek(request(policy, 1));
			assertThat(monitor.commands())
				.isEqualTo(large ? List.of("EVALSHA", " MGET", " STRLEN", " GETRANGE") : List.of("EVALSHA", " MGET"));
		}
	}

	/** As many entries as there can be, the base among them. */
	@Test
	void stateThatIsReadWithOthersIsNeverLarge() {
		Policy most = policy(new SlidingLog(), (SMALL - 1) + "/m");
		Policy windows = policy(new SlidingWindow(Duration.ofMillis(10)), "5000/13630ms");
		for (Policy policy : List.of(most, windows)) {
			this.clocked.reset(policy, ALICE);
			for (int i = 0; i < 1800; i++) {
				this.clocked.tryAcquire(RateLimitRequest.of(policy.withCountDenied(true), ALICE));
				this.clock.advance(Duration.ofMillis(10));
			}
			assertThat(this.jedis.strlen(key(policy))).isBetween(16370L, 16384L);
		}
	}

	@Test
	void stateIsWrittenAnewWhenMoreIsForgottenThanNot() throws InterruptedException {
		List<Long> sizes = new ArrayList<>();
		for (int i = -2000; i < 4100; i++) {
			decide(request(this.policy, 1));
			this.clock.advance(Duration.ofMillis(30));
			if (i >= 0) {
				sizes.add(this.jedis.strlen(key(this.policy)));
			}
		}
		assertThat(sizes.get(1998)).isEqualTo(HEADER + WIDTH * 4000);
		assertThat(sizes.get(1999)).isEqualTo(HEADER + WIDTH * 2001);
		assertThat(sizes.get(3998)).isEqualTo(HEADER + WIDTH * 4000);
		assertThat(sizes.get(3999)).isEqualTo(HEADER + WIDTH * 2001);
		assertThat(sizes)
			.isSubsetOf(LongStream.rangeClosed(2001, 4000).map((n) -> HEADER + WIDTH * n).boxed().toList());
	}

	@Test
	void keyLivesAsLongAsTheNewestRequestMatters() {
		fill(1800);
		this.jedis.persist(key(this.policy));
		decide(request(this.policy, 1));
		assertThat(timeToLive(this.policy)).isBetween(58_000L, 60_001L);
		Policy other = policy("other", new SlidingLog(), "100000/h");
		for (int i = 0; i < SMALL + 5; i++) {
			this.limiter.tryAcquire(other, ALICE);
		}
		this.jedis.persist(key(other));
		this.limiter.tryAcquire(other, ALICE);
		assertThat(this.jedis.strlen(key(other))).isGreaterThan(16384);
		assertThat(timeToLive(other)).isBetween(3_590_000L, 3_600_001L);
	}

	/** One policy is read in pieces, the others and the blocks at once. */
	@Test
	void largeAndSmallStatesAreDecidedTogether() {
		fill(1900);
		Policy small = policy("small", new SlidingLog(), "3/m");
		RateLimitRequest both = RateLimitRequest.of(Charge.of(small, ALICE, Identifier.GLOBAL),
				Charge.of(this.policy, ALICE, Identifier.GLOBAL));
		for (int i = 0; i < 4; i++) {
			decide(both);
		}
		this.clocked.block(Identifier.GLOBAL, "api", Duration.ofHours(1), "");
		assertThat(this.clocked.tryAcquire(this.policy, Identifier.GLOBAL).blockedFor()).isEqualTo(Duration.ofHours(1));
		assertThat(this.clocked.tryAcquire(this.policy, ALICE).blockedFor()).isNull();
	}

	private void fill(int requests) {
		for (int i = 0; i < requests; i++) {
			decide(request(this.policy, 1));
			this.clock.advance(Duration.ofMillis(20));
		}
	}

	private void decide(RateLimitRequest request) {
		Decision decision = this.clocked.tryAcquire(request);
		assertThat(decision).isEqualTo(this.memory.tryAcquire(request));
	}

}
