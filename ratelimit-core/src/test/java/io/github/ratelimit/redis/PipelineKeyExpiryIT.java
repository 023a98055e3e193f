package io.github.ratelimit.redis;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.UnifiedJedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What becomes of Redis keys without scripts.
 */
class PipelineKeyExpiryIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final long DAY_MILLIS = 86_400_000;

	private final UnifiedJedis jedis = TestRedis.client();

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RateLimiter limiter = PipelineRateLimiterIT.create(this.keyPrefix);

	static Stream<Algorithm> algorithms() {
		return PipelineRateLimiterIT.algorithms();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void keysExpireSoonAfterTheyMatter(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/1000d"));
		LimitStatus status = this.limiter.tryAcquire(policy, ALICE).statuses().get(0);
		long needed = status.resetAfter().toMillis();
		assertThat(keys()).isNotEmpty()
			.allSatisfy((key) -> assertThat(this.jedis.pttl(key)).isBetween(needed - 2000, needed + 5502));
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void everyKeyExpiresAndNoneIsProlonged(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("3/100d"), Limit.parse("7/1000d"));
		Policy full = Policy.of("full", algorithm, Limit.parse("1/1000d"));
		this.limiter.tryAcquire(full, ALICE);
		RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
		this.limiter.refund(request);
		this.limiter.tryAcquire(request);
		this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(policy, ALICE), Charge.of(full, ALICE)));
		this.limiter.tryAcquire(RateLimitRequest.of(Charge.of(policy.withCountDenied(true), ALICE).withCost(3)));
		Set<String> keys = keys();
		for (int i = 0; i < 6; i++) {
			long[] before = keys.stream().mapToLong(this.jedis::pttl).toArray();
			this.limiter.refund(request);
			long[] after = keys.stream().mapToLong(this.jedis::pttl).toArray();
			for (int k = 0; k < before.length; k++) {
				assertThat(after[k]).isBetween(1L, Math.min(before[k], 2000 * DAY_MILLIS + 5502));
			}
		}
		assertThat(this.limiter.peek(request).statuses()).extracting(LimitStatus::remaining).containsExactly(3L, 7L);
		this.limiter.reset(policy, ALICE);
		this.limiter.reset(full, ALICE);
		assertThat(keys()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void keysThatDoNotExpireAreGivenAnEndAgain(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("9/1000d"));
		RateLimitRequest request = RateLimitRequest.of(policy, ALICE);
		this.limiter.tryAcquire(policy, ALICE, 2);
		for (Consumer<RateLimitRequest> call : List.<Consumer<RateLimitRequest>>of(this.limiter::tryAcquire,
				this.limiter::charge)) {
			for (String key : keys()) {
				this.jedis.persist(key);
				this.limiter.peek(request);
				assertThat(this.jedis.pttl(key)).isEqualTo(-1);
				call.accept(request);
				assertThat(keys()).allSatisfy((each) -> assertThat(this.jedis.pttl(each)).isPositive());
			}
		}
		assertThat(remaining(policy)).containsExactly(9L - 2 - 2 * keys().size());
	}

	static Stream<Arguments> harms() {
		return algorithms().flatMap((algorithm) -> Stream.of("list", "hash", "text", "negative", "huge")
			.map((harm) -> Arguments.of(algorithm, harm)));
	}

	@ParameterizedTest
	@MethodSource("harms")
	void foreignKeyIsReplacedAndOthersCountOnce(Algorithm algorithm, String harm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("5/100d"), Limit.parse("5/1000d"));
		Policy other = Policy.of("other", algorithm, Limit.parse("5/1000d"));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(other, ALICE).withCost(2),
				Charge.of(policy, ALICE).withCost(2));
		this.limiter.tryAcquire(policy, ALICE);
		for (String key : keys()) {
			for (boolean charge : List.of(false, true)) {
				harm(key, harm);
				boolean counted = true;
				if (charge) {
					this.limiter.charge(request);
					// What the key held is lost, and nothing else; too large a count is
					// one.
					assertThat(remaining(policy)).contains(2L).containsAnyOf(3L, harm.equals("huge") ? 0L : 3L);
				}
				else {
					this.limiter.peek(request);
					this.limiter.refund(RateLimitRequest.of(policy, ALICE));
					counted = this.limiter.tryAcquire(request).allowed();
					assertThat(counted || harm.equals("huge")).isTrue();
				}
				assertThat(remaining(other)).containsExactly(counted ? 3L : 5L);
				assertThat(keys()).allSatisfy((each) -> assertThat(this.jedis.pttl(each)).isPositive());
				this.limiter.reset(policy, ALICE);
				this.limiter.reset(other, ALICE);
				this.limiter.tryAcquire(policy, ALICE);
			}
		}
	}

	private void harm(String key, String harm) {
		this.jedis.del(key);
		switch (harm) {
			case "list" -> this.jedis.lpush(key, "1", "2");
			case "hash" -> this.jedis.hset(key, Map.of("count", "5"));
			case "text" -> this.jedis.set(key, "many");
			case "negative" -> this.jedis.set(key, "-3");
			default -> this.jedis.set(key, Long.toString(Long.MAX_VALUE));
		}
	}

	@Test
	void windowOfFirstRequestEndsByTheServersClock() {
		Policy policy = Policy.of("api", new FirstRequestWindow(), Limit.parse("1/100ms"));
		for (int window = 0; window < 5; window++) {
			long start = System.nanoTime();
			assertThat(this.limiter.tryAcquire(policy, ALICE).allowed()).isTrue();
			while (!this.limiter.tryAcquire(policy, ALICE).allowed()) {
				Thread.onSpinWait();
			}
			assertThat(System.nanoTime() - start).isGreaterThan(99_000_000L);
			this.limiter.reset(policy, ALICE);
		}
	}

	private List<Long> remaining(Policy policy) {
		return this.limiter.peek(RateLimitRequest.of(policy, ALICE))
			.statuses()
			.stream()
			.map(LimitStatus::remaining)
			.toList();
	}

	private Set<String> keys() {
		return this.jedis.keys(this.keyPrefix + ":*");
	}

}
