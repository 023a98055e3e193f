package io.github.ratelimit.denial;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.StoreTest;

/** A cache before a store in memory whose calls are counted, and a policy. */
abstract class DenialCacheFixture extends StoreTest {

	static final Policy POLICY = policy(new SlidingLog(), "2/m", "100/h");

	static final RateLimitRequest REQUEST = RateLimitRequest.of(POLICY, ALICE);

	final MemoryRateLimiter memory = new MemoryRateLimiter(this.clock);

	/** What would run a while later. */
	final List<Runnable> later = new ArrayList<>();

	final CountingStore store = new CountingStore(this.memory);

	final DenialCache cache = newCache(Duration.ofDays(1), 1000);

	final RateLimiter limiter = this.cache.cache(this.store);

	final BlockList blocks = this.cache.watchBlocks(this.memory);

	final DenialCache newCache(Duration maxAge, long maxSize) {
		return newCache(maxAge, maxSize, 16);
	}

	final DenialCache newCache(Duration maxAge, long maxSize, int maxQuestions) {
		return new DenialCache(maxAge, maxSize, maxQuestions,
				() -> ChronoUnit.NANOS.between(Instant.EPOCH, this.clock.instant()), this.later::add);
	}

	final void exhaust() {
		this.limiter.tryAcquire(REQUEST);
		this.limiter.tryAcquire(REQUEST);
	}

	/** Counts decisions, and lets something happen between a decision and its answer. */
	static class CountingStore extends DelegatingRateLimiter {

		Runnable meanwhile = () -> {
		};

		int calls;

		int peeks;

		final List<List<Charge>> denials = new ArrayList<>();

		CountingStore(RateLimiter store) {
			super(store);
		}

		@Override
		public Decision tryAcquire(RateLimitRequest request) {
			this.calls++;
			Decision decision = super.tryAcquire(request);
			Runnable once = this.meanwhile;
			this.meanwhile = () -> {
			};
			once.run();
			return decision;
		}

		@Override
		public Decision peek(RateLimitRequest request) {
			this.peeks++;
			return super.peek(request);
		}

		@Override
		public void countDenials(List<Charge> denials) {
			this.denials.add(List.copyOf(denials));
			super.countDenials(denials);
		}

	}

}
