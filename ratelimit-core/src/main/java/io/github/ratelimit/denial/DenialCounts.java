package io.github.ratelimit.denial;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts denials from memory for penalties. The store is told later, one number for each
 * policy and identifier, because a call for each denial would be the load that the cache
 * keeps from it. Safe for use by several threads.
 */
final class DenialCounts {

	private static final Logger logger = LoggerFactory.getLogger(DenialCounts.class);

	/** Denials of further identifiers are not counted. */
	private static final int MOST = 10_000;

	/** Few, so that requests need not wait until all are told. */
	private static final int AT_ONCE = 128;

	private final RateLimiter store;

	private final Executor later;

	/** By a charge of cost 1. */
	private final Map<Charge, Long> denials = new ConcurrentHashMap<>();

	private final AtomicBoolean scheduled = new AtomicBoolean();

	/**
	 * @param later runs an action a while later
	 */
	DenialCounts(RateLimiter store, Executor later) {
		this.store = store;
		this.later = later;
	}

	/**
	 * Counts a denial from memory, once for each policy and identifier. It is not known
	 * which identifier is blocked, so none is counted if one of them is.
	 */
	void count(Decision denied) {
		Charge last = null;
		for (int i = 0; i < denied.statuses().size() && denied.blockedFor() == null; i++) {
			LimitStatus status = denied.statuses().get(i);
			if (status.policy().penalty() != null && status.violated() && status.retryAfter() != null) {
				Charge one = Charge.of(status.policy(), status.identifier());
				if (!one.equals(last)) {
					count(one);
				}
				last = one;
			}
		}
	}

	private void count(Charge one) {
		if (this.denials.size() < MOST || this.denials.containsKey(one)) {
			this.denials.merge(one, 1L, Long::sum);
			if (!this.scheduled.get() && this.scheduled.compareAndSet(false, true)) {
				tellLater();
			}
		}
	}

	private void tellLater() {
		try {
			this.later.execute(this::tell);
		}
		catch (OutOfMemoryError ex) {
			// There can be no more threads; the next denial tries again.
			this.scheduled.set(false);
			logger.debug("No thread can be started to count denials from memory", ex);
		}
	}

	private void tell() {
		this.scheduled.set(false);
		List<Charge> told = new ArrayList<>();
		for (Charge one : this.denials.keySet()) {
			Long number = this.denials.remove(one);
			if (number != null) {
				told.add(one.withCost(number));
			}
		}
		for (int i = 0; i < told.size(); i += AT_ONCE) {
			tell(told.subList(i, Math.min(i + AT_ONCE, told.size())));
		}
	}

	private void tell(List<Charge> told) {
		try {
			this.store.countDenials(told);
		}
		catch (StoreException ex) {
			logger.debug("Denials from memory are not counted for penalties", ex);
		}
	}

}
