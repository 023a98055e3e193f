package io.github.ratelimit.outage;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.CapturedLog;
import io.github.ratelimit.test.EachAlgorithm;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.StoreTest;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class LocalRateLimiterTests extends StoreTest {

	@RegisterExtension
	private final CapturedLog log = new CapturedLog(LocalRateLimiter.class);

	private final AtomicInteger instances = new AtomicInteger(1);

	private final LocalRateLimiter limiter = new LocalRateLimiter(new MemoryRateLimiter(this.clock),
			this.instances::get);

	@ParameterizedTest
	@CsvSource({ "10,1,10", "10,3,3", "10,10,1", "10,11,1", "10,1000,1", "0,3,0", "10,0,10", "10,-1,10" })
	void shareIsTheQuotaDividedByTheInstances(long quota, int instances, int share) {
		this.instances.set(instances);
		Policy policy = Policy.of("api", new FixedWindow(), new Limit(quota, Duration.ofMinutes(1)));
		assertThat(this.limiter.tryAcquire(policy, ALICE, share + 1).retryAfter()).isEmpty();
		for (int i = 0; i < share; i++) {
			assertThat(this.limiter.tryAcquire(policy, ALICE))
				.isEqualTo(new Decision(true, List.of(), null, Decision.Source.LOCAL));
		}
		Decision denied = this.limiter.tryAcquire(policy, ALICE);
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).extracting(LimitStatus::policy).containsExactly(policy);
		assertThat(denied.violated()).extracting(LimitStatus::limit).isEqualTo(policy.limits());
		this.clock.advance(Duration.ofMinutes(1));
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isEqualTo(share > 0);
	}

	/** As when the registry that knows the instances is gone as well. */
	@Test
	void lastNumberOfInstancesCountsWhileItIsNotKnown() {
		AtomicBoolean gone = new AtomicBoolean(true);
		LocalRateLimiter unsure = new LocalRateLimiter(new MemoryRateLimiter(this.clock), () -> {
			if (gone.get()) {
				throw new IllegalStateException("discovery is down");
			}
			return 5;
		});
		Policy policy = Policy.of("api", new FixedWindow(), new Limit(10, Duration.ofMinutes(1)));
		RateLimitRequest five = request(policy, 5);
		assertThat(unsure.peek(five).allowed()).isTrue();
		assertThat(unsure.peek(five).allowed()).isTrue();
		gone.set(false);
		assertThat(unsure.peek(five).allowed()).isFalse();
		gone.set(true);
		assertThat(unsure.peek(five).allowed()).isFalse();
		assertThat(this.log.lines()).containsExactly(
				"WARN The number of instances is unknown; using 1 until it is known. "
						+ "java.lang.IllegalStateException: discovery is down",
				"INFO The number of instances is known again: 5",
				"WARN The number of instances is unknown; using 5 until it is known. "
						+ "java.lang.IllegalStateException: discovery is down");
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void nobodyIsPenalized(int number) {
		this.instances.set(number);
		Policy policy = policy(new FixedWindow(), "2/h")
			.withPenalty(new Penalty(1, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(2)));
		for (int i = 0; i < 9; i++) {
			Decision decision = this.limiter.tryAcquire(policy, ALICE);
			assertThat(decision.allowed()).isEqualTo(i < 2 / number);
			assertThat(decision.blockedFor()).isNull();
			assertThat(decision.violated()).allSatisfy((status) -> assertThat(status.policy()).isEqualTo(policy));
		}
	}

	@Test
	void shareOfAMonthEndsWithTheMonth() {
		this.instances.set(3);
		this.clock.set("2027-02-28T22:00:00Z");
		Policy policy = policy(new FixedWindow(), "6/month");
		assertThat(this.limiter.tryAcquire(policy, ALICE, 2).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).violated()).singleElement().satisfies((status) -> {
			assertThat(status.limit()).isEqualTo(Limit.parse("6/month"));
			assertThat(status.retryAfter()).isEqualTo(Duration.ofHours(2));
		});
	}

	static Stream<Algorithm> algorithms() {
		return RateLimiterContract.algorithms();
	}

	@EachAlgorithm
	void allAlgorithmsCanBeShared(Algorithm algorithm) {
		this.instances.set(4);
		Policy policy = policy(algorithm, "8/m", "100/h");
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
		Decision denied = this.limiter.tryAcquire(policy, ALICE);
		assertThat(denied.allowed()).isFalse();
		this.clock.advance(denied.retryAfter().orElseThrow());
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
	}

	/**
	 * The last two would refill too slowly: half of the quota is less, rounded down, and
	 * half of the burst is not; or a share of 1,000,000 is too much by the rounding.
	 */
	@ParameterizedTest
	@CsvSource({ "20, 8/m, 4, 5", "285, 3/365d, 2, 95", "2142857, 15/350m, 2, 999999" })
	void burstIsDividedAsWell(long burst, String limit, int instances, long share) {
		this.instances.set(instances);
		Policy policy = policy(new TokenBucket(burst), limit);
		assertThat(this.limiter.tryAcquire(policy, ALICE, share + 1).retryAfter()).isEmpty();
		assertThat(this.limiter.tryAcquire(policy, ALICE, share).allowed()).isTrue();
		long quota = policy.limits().get(0).quota() / instances;
		assertThat(this.limiter.tryAcquire(policy, ALICE).retryAfter()).hasValueSatisfying((wait) -> assertThat(wait)
			.isCloseTo(policy.limits().get(0).window().dividedBy(quota), Duration.ofNanos(1000)));
	}

	@Property(tries = 4000)
	void shareOfAPolicyIsOne(@ForAll @LongRange(max = TokenBucket.MAX_QUOTA) long quota,
			@ForAll @LongRange(min = 1, max = TokenBucket.MAX_QUOTA) long burst,
			@ForAll @LongRange(min = 1, max = 315_360_000_000L) long millis,
			@ForAll @IntRange(min = 1, max = 100_000) int instances) {
		TokenBucket bucket = new TokenBucket(burst);
		Limit limit = new Limit(quota, Duration.ofMillis(millis));
		Assume.that(isSupported(bucket, limit));
		RateLimiter local = new LocalRateLimiter(new MemoryRateLimiter(this.clock), () -> instances);
		Policy policy = Policy.of("api", bucket, limit);
		assertThat(local.tryAcquire(policy, ALICE, Math.max(1, burst / instances) + 1).allowed()).isFalse();
		assertThat(local.tryAcquire(policy, ALICE).allowed()).isEqualTo(quota > 0);
	}

	private static boolean isSupported(TokenBucket bucket, Limit limit) {
		try {
			bucket.requireSupported(List.of(limit));
			return true;
		}
		catch (IllegalArgumentException ex) {
			return false;
		}
	}

	@Test
	void whatIsGivenBackOrResetCanBeUsedAgain() {
		this.instances.set(4);
		Policy policy = policy(new FixedWindow(), "8/m");
		RateLimitRequest two = request(policy, 2);
		this.limiter.tryAcquire(two);
		this.limiter.refund(two);
		assertThat(this.limiter.tryAcquire(two).allowed()).isTrue();
		this.limiter.reset(policy, ALICE);
		this.limiter.charge(RateLimitRequest.of(policy, ALICE));
		assertThat(this.limiter.peek(two).allowed()).isFalse();
		assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
	}

}
