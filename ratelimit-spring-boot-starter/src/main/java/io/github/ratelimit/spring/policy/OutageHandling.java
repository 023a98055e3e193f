package io.github.ratelimit.spring.policy;

import java.time.InstantSource;
import java.util.function.Predicate;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.LocalRateLimiter;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.spring.InstanceCount;

/**
 * How {@link PolicyDecisions} handle failures of the store.
 * <p>
 * Safe for use by several threads.
 *
 * @param isOutage returns whether the store did not answer at all, rather than with an
 * error
 * @param local limits the requests of policies with {@code on-store-failure: local}
 * @since 0.1
 */
public record OutageHandling(Predicate<StoreException> isOutage, LocalRateLimiter local) {

	/** About 20 MB, unless policies keep long logs. */
	private static final int MAX_LOCAL_COUNTS = 100_000;

	/**
	 * Creates the handling of outages of Redis.
	 * @param instances how many instances share the quotas
	 * @return a new handling, without any counts
	 */
	public static OutageHandling ofRedis(InstanceCount instances) {
		return new OutageHandling((ex) -> RedisErrorKind.of(ex).isUnanswered(),
				new LocalRateLimiter(new MemoryRateLimiter(InstantSource.system(), MAX_LOCAL_COUNTS), instances::get));
	}

}
