package io.github.ratelimit.redis.script;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.connection.OneConnection;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ScriptsIT {

	@Test
	void decidesAsTheStoreInMemory() {
		ManualClock clock = new ManualClock("2026-03-01T12:00:00Z");
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("2/s"), Limit.parse("3/m"));
		RateLimitRequest request = RateLimitRequest.of(policy, Identifier.user("a"), Identifier.user("b"));
		MemoryRateLimiter memory = new MemoryRateLimiter(clock);
		try (OneConnection servers = new OneConnection(TestRedis.uri())) {
			ScriptRateLimiter limiter = new ScriptRateLimiter(servers, TestRedis.newKeyPrefix(), clock);
			for (int i = 0; i < 4; i++) {
				Decision decision = limiter.tryAcquire(request);
				assertThat(decision).isEqualTo(memory.tryAcquire(request));
			}
		}
	}

}
