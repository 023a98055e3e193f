package io.github.ratelimit.denial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Denials from memory count for penalties.
 */
class DenialCountsTests extends DenialCacheFixture {

	private static final Duration BLOCK = Duration.ofMinutes(15);

	private static final Policy LOGIN = POLICY
		.withPenalty(new Penalty(20, Duration.ofMinutes(1), BLOCK, Duration.ofDays(1)));

	/** Of several instances together. */
	@Test
	void denialsFromMemoryLeadToABlock() {
		RateLimiter other = newCache(Duration.ofDays(1), 1000).cache(this.memory);
		acquire(this.limiter, LOGIN, 2 + 9);
		acquire(other, LOGIN, 10);
		tell();
		assertThat(this.memory.blocks()).isEmpty();
		acquire(this.limiter, LOGIN, 1);
		assertThat(this.memory.blocks()).isEmpty();
		tell();
		assertThat(this.memory.blocks()).extracting(Block::identifier, Block::reason)
			.containsExactly(tuple(ALICE, "denied 20 times in 1m by policy 'api'"));
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).blockedFor()).isEqualTo(BLOCK.minusMinutes(1));
		this.clock.advance(Duration.ofDays(1));
		assertThat(this.limiter.tryAcquire(LOGIN, ALICE).allowed()).isTrue();
	}

	@Test
	void storeIsToldOnceHoweverManyDenialsThereAre() {
		acquire(this.limiter, LOGIN, 2 + 1 + 1000);
		assertThat(this.store.calls).isEqualTo(3);
		assertThat(this.store.denials).isEmpty();
		assertThat(this.later).hasSize(1);
		tell();
		assertThat(this.store.denials).containsExactly(List.of(new Charge(LOGIN, List.of(ALICE), 1000)));
		assertThat(this.later).isEmpty();
		acquire(this.limiter, LOGIN, 1);
		assertThat(this.later).hasSize(1);
	}

	@Test
	void onlyIdentifiersWhoseLimitIsViolatedAreCounted() {
		RateLimitRequest request = RateLimitRequest.of(Charge.of(LOGIN, ALICE, ADDRESS));
		acquire(this.limiter, LOGIN, 2);
		IntStream.range(0, 10).forEach((i) -> this.limiter.tryAcquire(request));
		tell();
		assertThat(this.store.denials).containsExactly(List.of(new Charge(LOGIN, List.of(ALICE), 9)));
	}

	@Test
	void blocksImpossibleCostsAndPeeksAreNotTold() {
		acquire(this.limiter, POLICY, 9);
		for (int i = 0; i < 9; i++) {
			this.limiter.tryAcquire(LOGIN, ADDRESS, 101);
			this.limiter.peek(RateLimitRequest.of(LOGIN, ALICE));
		}
		this.blocks.block(ALICE, null, Duration.ofHours(1), "");
		acquire(this.limiter, LOGIN, 9);
		assertThat(this.store.calls).isLessThan(9 + 9);
		assertThat(this.later).isEmpty();
	}

	/** Few at a time, of which those that fail are lost. */
	@Test
	void failureConcernsOnlyTheDenialsThatWereTold() {
		List<Integer> told = new ArrayList<>();
		RateLimiter failing = this.cache.cache(new CountingStore(this.memory) {

			@Override
			public void countDenials(List<Charge> denials) {
				told.add(denials.size());
				if (told.size() == 1) {
					throw new StoreException("Redis failed", new IllegalStateException());
				}
			}

		});
		IntStream.range(0, 1200).forEach((i) -> failing.tryAcquire(LOGIN, Identifier.user("user" + i % 300)));
		tell();
		assertThat(told).containsExactly(128, 128, 44);
		assertThat(this.later).isEmpty();
		failing.tryAcquire(LOGIN, Identifier.user("user0"));
		assertThat(this.later).hasSize(1);
	}

	@Test
	void denialsAreToldLaterIfThereCanBeNoThread() {
		int[] failures = { 1 };
		DenialCounts untold = new DenialCounts(this.store, (task) -> {
			if (failures[0]-- > 0) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			this.later.add(task);
		});
		acquire(this.limiter, LOGIN, 2);
		for (int i = 0; i < 2; i++) {
			untold.count(this.memory.tryAcquire(RateLimitRequest.of(LOGIN, ALICE)));
		}
		tell();
		assertThat(this.store.denials).containsExactly(List.of(new Charge(LOGIN, List.of(ALICE), 2)));
	}

	@Test
	void numberOfIdentifiersIsBounded() {
		DenialCounts untold = new DenialCounts(this.store, this.later::add);
		acquire(this.limiter, LOGIN, 2);
		for (int i = 0; i < 10_001; i++) {
			Charge charge = Charge.of(LOGIN, Identifier.user("user" + i));
			this.memory.charge(RateLimitRequest.of(charge.withCost(2)));
			untold.count(this.memory.tryAcquire(RateLimitRequest.of(charge)));
		}
		tell();
		assertThat(this.store.denials.stream().mapToInt(List::size).sum()).isEqualTo(10_000);
	}

	private void tell() {
		List<Runnable> due = List.copyOf(this.later);
		this.later.clear();
		due.forEach(Runnable::run);
	}

	private static void acquire(RateLimiter limiter, Policy policy, int requests) {
		IntStream.range(0, requests).forEach((i) -> limiter.tryAcquire(policy, ALICE));
	}

}
