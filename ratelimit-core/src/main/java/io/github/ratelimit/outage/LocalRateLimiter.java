package io.github.ratelimit.outage;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits requests by this process alone while the store fails: its share of a quota is
 * the quota divided by the number of instances, rounded down, and at least 1 unless the
 * quota is 0. As long as there are as many instances as that, and no more of them than
 * each quota and, where a token bucket has one, the burst, all of them together hold the
 * bound of one store. With more of them, each admits one request nevertheless; and where
 * estimates are rounded down, each may admit one request more than its share. A token
 * bucket with a burst is counted by the share of the burst: when the number of instances
 * changes that share, it is counted afresh.
 * <p>
 * Decisions are about the policies and limits as they are, and not about shares of them,
 * because clients should not see the difference. What is left of the whole quota is not
 * known: an allowed decision has no statuses, and a denied one those of the violated
 * limits. A cost that is larger than the share is never allowed, and has no time to retry
 * after.
 * <p>
 * Blocks are known to the store alone, and are not enforced. Safe for use by several
 * threads.
 *
 * @since 0.1
 */
public final class LocalRateLimiter implements RateLimiter {

	private static final Logger logger = LoggerFactory.getLogger(LocalRateLimiter.class);

	private final RateLimiter memory;

	private final IntSupplier instances;

	private volatile int lastInstances = 1;

	private final AtomicBoolean unknown = new AtomicBoolean();

	/**
	 * Creates a rate limiter.
	 * @param memory counts the shares, in the memory of this process
	 * @param instances the number of instances, asked for every request; less than 1
	 * counts as 1. If it throws an exception, the last number counts, or 1 if there is
	 * none
	 */
	public LocalRateLimiter(RateLimiter memory, IntSupplier instances) {
		this.memory = memory;
		this.instances = instances;
	}

	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		return ofWhole(request, this.memory.tryAcquire(shares(request)));
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		return ofWhole(request, this.memory.peek(shares(request)));
	}

	@Override
	public void refund(RateLimitRequest request) {
		this.memory.refund(shares(request));
	}

	@Override
	public void charge(RateLimitRequest request) {
		this.memory.charge(shares(request));
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		this.memory.reset(share(policy, instances()), identifier);
	}

	/** As many as there were last if that is not known. */
	private int instances() {
		try {
			int number = Math.max(1, this.instances.getAsInt());
			this.lastInstances = number;
			if (this.unknown.get() && this.unknown.getAndSet(false)) {
				logger.info("The number of instances is known again: {}", number);
			}
			return number;
		}
		catch (RuntimeException ex) {
			int last = this.lastInstances;
			if (!this.unknown.getAndSet(true)) {
				logger.warn("The number of instances is not known: {} is used until it is. {}", last, ex.toString());
				logger.debug("The number of instances is not known", ex);
			}
			return last;
		}
	}

	private RateLimitRequest shares(RateLimitRequest request) {
		int number = instances();
		List<Charge> charges = new ArrayList<>();
		for (Charge charge : request.charges()) {
			charges.add(new Charge(share(charge.policy(), number), charge.identifiers(), charge.cost()));
		}
		return new RateLimitRequest(charges, request.metadata());
	}

	private static Policy share(Policy policy, int instances) {
		if (instances == 1) {
			return policy;
		}
		List<Limit> limits = policy.limits()
			.stream()
			.map((limit) -> new Limit(share(limit.quota(), instances), limit.window()))
			.toList();
		return new Policy(policy.name(), policy.algorithm().share(instances, limits), limits, policy.countDenied());
	}

	private static long share(long quota, int instances) {
		return (quota == 0) ? 0 : Math.max(1, quota / instances);
	}

	private static Decision ofWhole(RateLimitRequest request, Decision decision) {
		List<LimitStatus> statuses = decision.violated().stream().map((status) -> ofWhole(request, status)).toList();
		return new Decision(decision.allowed(), statuses, decision.blockedFor(), Source.LOCAL);
	}

	private static LimitStatus ofWhole(RateLimitRequest request, LimitStatus status) {
		Policy policy = request.charges()
			.stream()
			.map(Charge::policy)
			.filter((each) -> each.name().equals(status.policy().name()))
			.findFirst()
			.orElseThrow();
		Limit limit = policy.limits()
			.stream()
			.filter((each) -> each.window().equals(status.limit().window()))
			.findFirst()
			.orElseThrow();
		return new LimitStatus(policy, status.identifier(), limit, status.remaining(), status.resetAfter(),
				status.retryAfter(), status.violated());
	}

}
