package io.github.ratelimit.test;

import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Block;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
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

/**
 * What the contracts have in common: each of them is about one thing that is true of
 * every algorithm in every store. A store's tests hold all of them.
 */
@ExtendWith(StoreUnderTest.Resolver.class)
public abstract class RateLimiterContract {

	protected static final Identifier ALICE = Identifier.user("alice");

	protected static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	protected final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	protected RateLimiter limiter;

	public static Stream<Algorithm> algorithms() {
		return Stream.of(new FixedWindow(), new FirstRequestWindow(), new SlidingLog(), new SlidingWindow(),
				new SlidingWindowCounter(), new LeakyBucket(), new TokenBucket());
	}

	/** The same algorithms with other options. */
	public static Stream<Algorithm> variants() {
		return Stream.of(new FixedWindow(3, ZoneOffset.UTC), new FixedWindow(2, ZoneId.of("Europe/Paris")),
				new SlidingLog(true), new SlidingWindow(Duration.ofMillis(1)),
				new SlidingWindowCounter(0.3, Rounding.DOWN), new SlidingWindowCounter(1, Rounding.UP),
				new SlidingWindowCounter(0, Rounding.NONE));
	}

	private StoreUnderTest store;

	/**
	 * What the store supports: all algorithms, unless it says otherwise and hides
	 * {@link #algorithms()} by a method that returns the same.
	 */
	protected Stream<Algorithm> supportedAlgorithms() {
		return algorithms();
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
		return this.limiter.peek(RateLimitRequest.of(policy, identifier))
			.statuses()
			.stream()
			.map(LimitStatus::remaining)
			.toList();
	}

	protected final LimitStatus status(Policy policy, Identifier identifier) {
		return this.limiter.peek(RateLimitRequest.of(policy, identifier)).statuses().get(0);
	}

	protected static RateLimitRequest request(Policy policy, long cost) {
		return RateLimitRequest.of(Charge.of(policy, ALICE).withCost(cost));
	}

	protected static Policy withLimit(Policy policy, String limit) {
		return Policy.of(policy.name(), policy.algorithm(), Limit.parse(limit));
	}

}
