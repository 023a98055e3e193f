package io.github.ratelimit.waiting;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.test.EachAlgorithm;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers who wait in lines.
 */
class WaitingLineTests extends WaitingCallers {

	@Test
	void firstComeIsFirstServedByOneCallEach() throws Exception {
		acquire(EACH_SECOND, 1, LONG);
		List<Caller> callers = Stream.generate(() -> inLine(EACH_SECOND, 1)).limit(8).toList();
		assertThat(this.calls).hasValue(2);
		this.gate.countDown();
		assertAdmitted(callers);
		assertThat(this.admitted.subList(1, 9)).isEqualTo(callers.stream().map((caller) -> caller.thread).toList());
		assertThat(this.calls).hasValue(2 + 8);
		assertThat(passed()).hasSeconds(8);
	}

	/** Whom the line would not admit in time is told so without a call. */
	@Test
	void thoseAheadCount() throws Exception {
		Policy policy = Policy.of("api", new LeakyBucket(), Limit.parse("10/m"));
		acquire(policy, 10, LONG);
		List<Caller> callers = new ArrayList<>();
		List.of(1, 3, 8).forEach((cost) -> callers.add(inLine(policy, cost)));
		Decision denied = acquire(policy, 2, Duration.ofSeconds(84).minusNanos(1));
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.source()).isEqualTo(Source.DENIAL_CACHE);
		assertThat(denied.retryAfter()).hasValue(Duration.ofSeconds(84));
		assertThat(denied.violated()).singleElement()
			.extracting(LimitStatus::remaining, LimitStatus::resetAfter)
			.containsExactly(0L, Duration.ofSeconds(6));
		assertThat(acquire(policy, 11, LONG).retryAfter()).isEmpty();
		assertThat(this.calls).hasValue(2);
		callers.add(inLine(() -> acquire(policy, 2, Duration.ofSeconds(84))));
		this.gate.countDown();
		assertAdmitted(callers);
		assertThat(passed()).hasSeconds(84);
	}

	/** February is shorter than the longest month. */
	@Test
	void monthsAheadCountAsTheyAre() throws Exception {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("1/month"));
		this.clock.advance(Duration.ofDays(30));
		acquire(policy, 1, LONG);
		List<Caller> callers = List.of(inLine(policy, 1), inLine(() -> acquire(policy, 1, Duration.ofDays(29))));
		this.gate.countDown();
		assertAdmitted(callers);
		assertThat(this.clock.instant()).isEqualTo("2026-03-01T00:00:00Z");
	}

	/** Without the store, a decision has no statuses. */
	@Test
	void storeIsAskedWhenNothingKnownDenies() throws Exception {
		RateLimitRequest request = request(EACH_SECOND, 1);
		Duration longer = LONG.plusDays(1);
		Iterator<Decision> decisions = List
			.of(new Decision(false, this.store.peek(request).statuses(), LONG), Decision.withoutStore())
			.iterator();
		Caller first = inLine(() -> this.limiter.acquire(request, longer, decisions::next));
		Caller second = inLine(() -> this.limiter.acquire(request, longer, () -> {
			Caller third = new Caller(
					() -> this.limiter.acquire(request, Duration.ofMillis(1), Decision::withoutStore));
			assertThat(third).succeedsWithin(LONG).extracting(Decision::allowed).isEqualTo(true);
			return Decision.withoutStore();
		}));
		this.gate.countDown();
		assertAdmitted(List.of(first, second));
	}

	/**
	 * After random requests: the time that a refused caller is told is never later than
	 * when it would have been admitted, but for the rounding of two times.
	 */
	@EachAlgorithm
	void nobodyIsRefusedWhoseTurnComesInTime(Algorithm algorithm) throws Exception {
		Policy policy = twoLimits(algorithm);
		for (int seed = 0; seed < 40; seed++) {
			WaitingLineTests test = new WaitingLineTests();
			Random random = new Random(seed);
			while (test.store.tryAcquire(request(policy, 1 + random.nextInt(2))).allowed()) {
				test.clock.advance(Duration.ofMillis(random.nextInt(300)));
			}
			test.store.tryAcquire(request(policy, 1));
			List<Caller> callers = Stream.generate(() -> test.inLine(policy, 1 + random.nextInt(2)))
				.limit(1 + random.nextInt(9))
				.toList();
			Duration told = test.acquire(policy, 1, Duration.ofNanos(1)).retryAfter().orElseThrow();
			Instant before = test.clock.instant();
			test.gate.countDown();
			assertAdmitted(callers);
			assertThat(test.acquire(policy, 1, LONG).allowed()).isTrue();
			assertThat(told.minus(1, ChronoUnit.MICROS)).as("seed %s", seed)
				.isLessThanOrEqualTo(Duration.between(before, test.clock.instant()));
		}
	}

	@Test
	void interruptionLeavesTheOthersInLine() throws Exception {
		acquire(EACH_SECOND, 1, LONG);
		List<Caller> callers = Stream.generate(() -> inLine(EACH_SECOND, 1)).limit(4).toList();
		for (Caller interrupted : List.of(callers.get(2), callers.get(0))) {
			interrupted.thread.interrupt();
			assertFails(interrupted, InterruptedException.class);
		}
		this.gate.countDown();
		assertAdmitted(List.of(callers.get(1), callers.get(3)));
		assertThat(passed()).hasSeconds(2);
	}

	/** Counted by how often the algorithms of policies are compared. */
	@Test
	void refundLooksAtNoLineOfOthers() {
		AtomicInteger comparisons = new AtomicInteger();
		Decision denied = new Decision(false, List.of(), LONG);
		for (int i = 0; i < 20; i++) {
			RateLimitRequest request = RateLimitRequest.of(compared("api" + i, comparisons), Identifier.GLOBAL);
			inLine(() -> this.limiter.acquire(request, LONG, () -> denied));
		}
		comparisons.set(0);
		this.limiter.refund(RateLimitRequest.of(compared("other", comparisons), Identifier.GLOBAL));
		assertThat(comparisons).hasValueLessThan(10);
	}

	private static Policy compared(String name, AtomicInteger comparisons) {
		Algorithm algorithm = (Algorithm) Proxy.newProxyInstance(Algorithm.class.getClassLoader(),
				new Class<?>[] { Algorithm.class }, (proxy, method, arguments) -> {
					comparisons.addAndGet(method.getName().equals("equals") ? 1 : 0);
					return method.invoke(new FixedWindow(), arguments);
				});
		return Policy.of(name, algorithm, Limit.parse("1/s"));
	}

	@Test
	void failureOfStoreIsThrownToFirstInLine() throws Exception {
		acquire(EACH_SECOND, 1, LONG);
		AtomicInteger failures = new AtomicInteger(1);
		Callable<Decision> task = () -> this.limiter.acquire(request(EACH_SECOND, 1), LONG, () -> {
			if (this.gate.getCount() == 0 && failures.getAndDecrement() > 0) {
				throw new StoreException("expected by this test", null);
			}
			return this.store.tryAcquire(request(EACH_SECOND, 1));
		});
		Caller first = inLine(task);
		Caller second = inLine(task);
		this.gate.countDown();
		assertFails(first, StoreException.class);
		assertAdmitted(List.of(second));
	}

}
