package io.github.ratelimit.outage;

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
 * Limits requests by counts in this process only, while the store fails.
 * <p>
 * If the number of instances is known, each grants its share, otherwise the whole quota.
 * A share is the quota divided by the number, rounded down, and at least 1 unless the
 * quota is 0. All instances together then keep the bound of one store, unless there are
 * more instances than that number or than a quota or burst; of estimates that are rounded
 * down, each may allow one request more than its share. If a change of the number changes
 * the burst of a token bucket, its count starts afresh.
 * <p>
 * Decisions contain the original policies and limits. What remains of the whole quota is
 * unknown: an allowed decision has no statuses, and a denied one has those of the
 * violated limits. A cost above the share is never allowed and has no retry-after. Blocks
 * are known only to the store and are not enforced; nor are there
 * {@linkplain io.github.ratelimit.Penalty penalties}. Safe for use by several threads.
 */
public final class LocalRateLimiter implements RateLimiter {

	private static final Logger logger = LoggerFactory.getLogger(LocalRateLimiter.class);

	private final RateLimiter memory;

	private final IntSupplier instances;

	private volatile int lastInstances = 1;

	private final AtomicBoolean unknown = new AtomicBoolean();

	/** Creates a rate limiter that grants whole quotas. */
	public LocalRateLimiter(RateLimiter memory) {
		this(memory, () -> 1);
	}

	/**
	 * Creates a rate limiter that grants its share of each quota.
	 * @param instances the number of instances, called for every request; less than 1
	 * counts as 1. If it throws an exception, the last number is used, or 1 if there is
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

	@Override
	public void requireSupported(Policy policy) {
		this.memory.requireSupported(share(policy, instances()));
	}

	/** Returns the last known number if the current one is unknown. */
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
				logger.warn("The number of instances is unknown; using {} until it is known. {}", last, ex.toString());
				logger.debug("The number of instances is unknown", ex);
			}
			return last;
		}
	}

	private RateLimitRequest shares(RateLimitRequest request) {
		int number = instances();
		if (number == 1 && request.charges().stream().allMatch((charge) -> charge.policy().penalty() == null)) {
			return request;
		}
		return request.withCharges(request.charges()
			.stream()
			.map((charge) -> new Charge(share(charge.policy(), number), charge.identifiers(), charge.cost(),
					charge.shadow()))
			.toList());
	}

	private static Policy share(Policy policy, int instances) {
		if (instances == 1) {
			return (policy.penalty() != null) ? policy.withPenalty(null) : policy;
		}
		List<Limit> limits = policy.limits()
			.stream()
			.map((limit) -> limit.withQuota(share(limit.quota(), instances)))
			.toList();
		return new Policy(policy.name(), policy.algorithm().share(instances, limits), limits, policy.countDenied());
	}

	private static long share(long quota, int instances) {
		return (quota == 0) ? 0 : Math.max(1, quota / instances);
	}

	private static Decision ofWhole(RateLimitRequest request, Decision decision) {
		return withoutShadows(request, decision).withShadows(request.shadows(),
				(charge) -> withoutShadows(request, decision.shadow(charge)));
	}

	private static Decision withoutShadows(RateLimitRequest request, Decision decision) {
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
		Limit limit = policy.limits().get(status.policy().limits().indexOf(status.limit()));
		return new LimitStatus(policy, status.identifier(), limit, status.remaining(), status.resetAfter(),
				status.retryAfter(), status.violated());
	}

}
