package io.github.ratelimit.redis.script;

import java.util.Set;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RedisKeysIT {

	@Test
	void oddIdentifiersHaveACountOfTheirOwn() {
		String keyPrefix = TestRedis.newKeyPrefix();
		RateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), keyPrefix);
		Set<String> texts = RedisKeysTests.oddTexts();
		Policy policy = Policy.of("odd", new FixedWindow(), new Limit(texts.size() + 1, Limit.MAX_WINDOW));
		long used = 0;
		for (String text : texts) {
			used++;
			assertThat(limiter.tryAcquire(policy, Identifier.user(text), used).allowed()).isTrue();
		}
		assertThat(TestRedis.client().keys(keyPrefix + ":*")).hasSize(texts.size());
		for (String text : texts) {
			used--;
			assertThat(limiter.tryAcquire(policy, Identifier.user(text), 0).statuses())
				.extracting(LimitStatus::remaining)
				.containsExactly(used + 1);
		}
		texts.forEach((text) -> limiter.reset(policy, Identifier.user(text)));
		assertThat(TestRedis.client().keys(keyPrefix + ":*")).isEmpty();
	}

}
