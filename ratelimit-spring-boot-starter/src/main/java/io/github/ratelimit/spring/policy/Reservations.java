package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.spring.PolicyCharge;
import org.jspecify.annotations.Nullable;

/**
 * What requests that this instance serves have used and may yet give back: because their
 * policy counts some responses only, or because they have not come through the login. The
 * store does not tell that from what remains used.
 * <p>
 * How long a request takes cannot be known. So a request that would be allowed if those
 * under way gave back what they hold is told to try again after the shortest time that
 * {@code Retry-After} can say. What other instances hold is not known here.
 * <p>
 * Safe for use by several threads.
 */
final class Reservations {

	/** When to try again, and how long to remember a denial. */
	static final Duration SOON = Duration.ofSeconds(1);

	/** Servlet containers sometimes forget a request without an event for its end. */
	private static final Duration FORGOTTEN = Duration.ofHours(1);

	private final ConcurrentMap<Key, Held> held;

	/** Names of the policies, as the store has them, of which something may be held. */
	private final Set<String> policies = ConcurrentHashMap.newKeySet();

	private final Ticker ticker;

	Reservations(Ticker ticker) {
		this.ticker = ticker;
		this.held = Caffeine.newBuilder()
			.executor(Runnable::run)
			.expireAfterWrite(FORGOTTEN)
			.ticker(ticker)
			.<Key, Held>build()
			.asMap();
	}

	/** Notes that something of a policy may be held, as the store counts it. */
	void note(Policy policy) {
		this.policies.add(policy.name());
	}

	/** Returns for how long a denial of a policy may be remembered. */
	Duration longestDenial(Policy policy) {
		return this.policies.contains(policy.name()) ? SOON : DenialCache.LONGEST_AGE;
	}

	/** Notes what a request has used of what is provisional, and will settle. */
	void hold(PolicyCharge used) {
		used.charge()
			.identifiers()
			.forEach((identifier) -> this.held.merge(Key.of(used, identifier),
					new Held(used.charge().cost(), this.ticker.read()), Held::with));
	}

	/** Notes that a request has settled what it used. */
	void release(PolicyCharge used) {
		if (used.isProvisional()) {
			used.charge()
				.identifiers()
				.forEach((identifier) -> this.held.computeIfPresent(Key.of(used, identifier),
						(key, held) -> held.without(used.charge().cost())));
		}
	}

	/** Returns a denial with the time after which something may be given back. */
	Decision withSoon(Decision decision, List<PolicyCharge> charges) {
		if (this.held.isEmpty()) {
			return decision;
		}
		return new Decision(false, decision.statuses()
			.stream()
			.map((status) -> mayBeAllowedSoon(status, charges) ? new LimitStatus(status.policy(), status.identifier(),
					status.limit(), status.remaining(), status.resetAfter(), SOON, true) : status)
			.toList(), decision.blockedFor(), decision.source(), decision.shadows());
	}

	private boolean mayBeAllowedSoon(LimitStatus status, List<PolicyCharge> charges) {
		Duration retryAfter = status.retryAfter();
		return status.violated() && retryAfter != null && retryAfter.compareTo(SOON) > 0
				&& charges.stream()
					.filter((charge) -> charge.isProvisional() && charge.charge().policy().equals(status.policy()))
					.anyMatch((charge) -> charge.charge().cost()
							- status.remaining() <= held(Key.of(charge, status.identifier())));
	}

	private long held(Key key) {
		Held held = this.held.get(key);
		return (held != null) ? held.cost() : 0;
	}

	/** Plans with other windows have counts of their own. */
	private record Key(String policy, String stateForm, boolean beforeLogin, Identifier identifier) {

		static Key of(PolicyCharge charge, Identifier identifier) {
			Policy policy = charge.charge().policy();
			return new Key(policy.name(), policy.stateForm(), charge.beforeLogin(), identifier);
		}

	}

	/**
	 * What is held. What requests have left behind that never ended would stay for ever
	 * where others come all the time; so it begins anew now and then.
	 *
	 * @param since when it began, in nanoseconds
	 */
	private record Held(long cost, long since) {

		Held with(Held more) {
			return (more.since - this.since > FORGOTTEN.toNanos()) ? more : new Held(this.cost + more.cost, this.since);
		}

		@Nullable Held without(long cost) {
			return (this.cost > cost) ? new Held(this.cost - cost, this.since) : null;
		}

	}

}
