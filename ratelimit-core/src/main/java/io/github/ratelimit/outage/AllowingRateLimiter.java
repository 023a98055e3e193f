package io.github.ratelimit.outage;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Allows requests while the store fails, and says so in the log: once when it fails and
 * once when it allows a request again. That it denies one proves nothing, because it then
 * only reads, as a full or read-only Redis still does. Such a decision has no statuses,
 * because the numbers are not known.
 * <p>
 * A reset passes the failure on, because whoever asks for it must know.
 *
 * @since 0.1
 */
public final class AllowingRateLimiter implements RateLimiter {

	private static final Logger logger = LoggerFactory.getLogger(AllowingRateLimiter.class);

	private static final Decision ALLOWED = new Decision(true, List.of());

	private final RateLimiter store;

	private final AtomicBoolean failing = new AtomicBoolean();

	/**
	 * Creates a rate limiter.
	 * @param store the store that may fail
	 */
	public AllowingRateLimiter(RateLimiter store) {
		this.store = store;
	}

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
			return failed(ex);
		}
	}

	@Override
	public Decision peek(RateLimitRequest request) {
		try {
			return this.store.peek(request);
		}
		catch (StoreException ex) {
			return failed(ex);
		}
	}

	@Override
	public void refund(RateLimitRequest request) {
		try {
			this.store.refund(request);
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

	private static Throwable rootCause(Throwable ex) {
		Throwable root = ex;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return root;
	}

	private Decision failed(StoreException ex) {
		if (this.failing.compareAndSet(false, true)) {
			logger.warn("The store failed: requests are allowed without limits until it answers. {}: {}",
					ex.getMessage(), rootCause(ex).toString());
			logger.debug("The store failed", ex);
		}
		return ALLOWED;
	}

}
