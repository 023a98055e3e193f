package io.github.ratelimit.test;

import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.TokenBucket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the contracts have in common: each of them is about one thing that is true of
 * every algorithm in every store. A store's tests hold all of them.
 */
@ExtendWith(StoreUnderTest.Resolver.class)
public abstract class RateLimiterContract extends StoreTest {

	protected RateLimiter limiter;

	protected StoreUnderTest store;

	public static Stream<Algorithm> algorithms() {
		return Stream.of(new FixedWindow(), new FirstRequestWindow(), new SlidingLog(), new SlidingWindow(),
				new SlidingWindowCounter(), new LeakyBucket(), new TokenBucket());
	}

	public static Stream<Algorithm> variants() {
		return Stream.of(new FixedWindow(3, ZoneOffset.UTC), new FixedWindow(2, ZoneId.of("Europe/Paris")),
				new SlidingLog(true), new SlidingWindow(Duration.ofMillis(1)),
				new SlidingWindowCounter(0.3, Rounding.DOWN), new SlidingWindowCounter(1, Rounding.UP),
				new SlidingWindowCounter(0, Rounding.NONE));
	}

	@BeforeEach
	void createRateLimiter(StoreUnderTest store) {
		this.store = store;
		this.limiter = newRateLimiter();
	}

	/** A store without any counts or blocks. */
	protected final RateLimiter newRateLimiter() {
		return this.store.create(this.clock, this::penalized);
	}

	protected void penalized(Block block, boolean shadow) {
	}

	protected final List<Long> remaining(Policy policy, Identifier identifier) {
		return remaining(this.limiter, policy, identifier);
	}

	protected final BlockList blocks() {
		return (BlockList) this.limiter;
	}

	protected final LimitStatus status(Policy policy, Identifier identifier) {
		return this.limiter.peek(RateLimitRequest.of(policy, identifier)).statuses().get(0);
	}

	/** How long a request of the cost would have to wait for the first limit. */
	protected final Duration waitFor(Policy policy, long cost) {
		return this.limiter.peek(request(policy, cost)).statuses().get(0).retryAfter();
	}

	/**
	 * Asserts that a request is allowed from a moment on, and not a microsecond before.
	 */
	protected final void assertAllowedAfter(Duration wait, Policy policy, long cost) {
		this.clock.advance(wait.minusNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE, cost).allowed()).as("a microsecond before %s", wait)
			.isFalse();
		this.clock.advance(Duration.ofNanos(1000));
		assertThat(this.limiter.tryAcquire(policy, ALICE, cost).allowed()).as("after %s", wait).isTrue();
	}

}
