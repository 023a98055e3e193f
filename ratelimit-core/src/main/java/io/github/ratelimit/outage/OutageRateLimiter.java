package io.github.ratelimit.outage;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers while the store fails, as each policy wants it, and says so in the log: once
 * when it fails and once when it allows a request again. That it denies one proves
 * nothing, because it then only reads, as a full or read-only Redis still does.
 * <p>
 * If all policies of a request allow it without the store, so does the decision, which
 * has no statuses because the numbers are not known. If one of them denies it, the
 * {@link StoreException} is passed on. So is that of a reset, because whoever asks for it
 * must know.
 *
 * @since 0.1
 */
public final class OutageRateLimiter implements RateLimiter {

	private static final Logger logger = LoggerFactory.getLogger(OutageRateLimiter.class);

	private final RateLimiter store;

	private final Function<Policy, OnStoreFailure> onStoreFailure;

	private final AtomicBoolean failing = new AtomicBoolean();

	/**
	 * Creates a rate limiter.
	 * @param store the store that may fail
	 * @param onStoreFailure what becomes of the requests of a policy while it does
	 */
	public OutageRateLimiter(RateLimiter store, Function<Policy, OnStoreFailure> onStoreFailure) {
		this.store = store;
		this.onStoreFailure = onStoreFailure;
	}

	/**
	 * Decides a request.
	 * @throws StoreException if the store failed, and a policy of the request denies
	 * requests without it
	 */
	@Override
	public Decision tryAcquire(RateLimitRequest request) {
		try {
			Decision decision = this.store.tryAcquire(request);
			if (decision.allowed()) {
				answered();
			}
			return decision;
		}
		catch (StoreException ex) {
			return withoutStore(request, ex);
		}
	}

	/**
	 * Looks at a request.
	 * @throws StoreException if the store failed, and a policy of the request denies
	 * requests without it
	 */
	@Override
	public Decision peek(RateLimitRequest request) {
		try {
			return this.store.peek(request);
		}
		catch (StoreException ex) {
			return withoutStore(request, ex);
		}
	}

	/**
	 * Gives back the cost of a request, as far as the store answers.
	 */
	@Override
	public void refund(RateLimitRequest request) {
		try {
			this.store.refund(request);
		}
		catch (StoreException ex) {
			failed(ex);
		}
	}

	/**
	 * Uses the cost of a request, as far as the store answers.
	 */
	@Override
	public void charge(RateLimitRequest request) {
		try {
			this.store.charge(request);
		}
		catch (StoreException ex) {
			failed(ex);
		}
	}

	@Override
	public void reset(Policy policy, Identifier identifier) {
		this.store.reset(policy, identifier);
	}

	@Override
	public void requireSupported(Policy policy) {
		this.store.requireSupported(policy);
	}

	private void answered() {
		if (this.failing.get() && this.failing.compareAndSet(true, false)) {
			logger.info("The store answers again: limits are enforced");
		}
	}

	private Decision withoutStore(RateLimitRequest request, StoreException ex) {
		failed(ex);
		if (request.charges()
			.stream()
			.anyMatch((charge) -> this.onStoreFailure.apply(charge.policy()) == OnStoreFailure.DENY)) {
			throw ex;
		}
		return Decision.withoutStore();
	}

	private void failed(StoreException ex) {
		if (this.failing.compareAndSet(false, true)) {
			logger.warn("The store failed: limits are not enforced until it answers. {}: {}", ex.getMessage(),
					rootCause(ex).toString());
			logger.debug("The store failed", ex);
		}
	}

	private static Throwable rootCause(Throwable ex) {
		Throwable root = ex;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return root;
	}

}
