package io.github.ratelimit.redis;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.Threads;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A quota for 100 requests that ten users share, each of whom has one for 20, while many
 * threads want more than there is.
 */
final class SharedQuota {

	private SharedQuota() {
	}

	/**
	 * Uses it, and asserts that what was denied has used nothing, and that nothing is
	 * lost.
	 * @return how many requests were allowed
	 */
	static long use(Algorithm algorithm, List<? extends RateLimiter> limiters) throws Exception {
		Policy each = new Policy("each", algorithm, List.of(new Limit(40, Limit.MAX_WINDOW)));
		Policy total = new Policy("total", algorithm, List.of(new Limit(301, Limit.MAX_WINDOW)));
		Map<Identifier, LongAdder> allowed = new ConcurrentHashMap<>();
		Threads.run(16, 50, (thread, attempt) -> {
			Identifier user = Identifier.user("user" + attempt % 10);
			if (limiters.get(thread % limiters.size())
				.tryAcquire(RateLimitRequest.of(Charge.of(each, user).withCost(2),
						Charge.of(total, Identifier.GLOBAL).withCost(3)))
				.allowed()) {
				allowed.computeIfAbsent(user, (key) -> new LongAdder()).increment();
			}
		});
		RateLimiter limiter = limiters.get(0);
		long sum = allowed.values().stream().mapToLong(LongAdder::sum).sum();
		assertThat(remaining(limiter, total, Identifier.GLOBAL)).isEqualTo(301 - 3 * sum);
		allowed.forEach((user, count) -> assertThat(remaining(limiter, each, user)).isEqualTo(40 - 2 * count.sum()));
		return sum;
	}

	private static long remaining(RateLimiter limiter, Policy policy, Identifier identifier) {
		return limiter.peek(RateLimitRequest.of(policy, identifier)).statuses().get(0).remaining();
	}

}
