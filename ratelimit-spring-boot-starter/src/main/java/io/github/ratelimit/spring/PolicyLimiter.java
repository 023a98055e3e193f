package io.github.ratelimit.spring;

import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import org.jspecify.annotations.Nullable;

/**
 * Decides in code by the policies of the application, for messages, jobs, outgoing calls,
 * or parts of a request. Inject it:
 *
 * <pre>{@code
 * Acquisition mail = this.limiter.tryAcquire("mail", Identifier.user(customer));
 * if (mail.allowed()) {
 *     send();
 * }
 * }</pre>
 * <p>
 * It decides as the filter of paths does, by the current form of the policy, and by
 * {@code on-store-failure} while the store fails. Metrics and listeners see its
 * decisions. It has no effect on responses: no header shows its limits,
 * {@code count-when} and {@code reset-when} do not apply, and a denial is for the caller
 * to handle. A {@link io.github.ratelimit.RateLimiter} is the store itself instead, which
 * knows no configuration and throws exceptions when it fails.
 * <p>
 * If no identifiers are given, they are those of the present request, or of the thread
 * outside of a request, as for a method with {@code @RateLimited}; so are the plan, the
 * conditions and costs of the request, and the clients that are never limited or always
 * denied. If identifiers are given, the present request does not matter.
 * <p>
 * Methods throw {@code IllegalArgumentException} if there is no such policy, it does not
 * count by the identifiers, or a policy is used twice. Those that decide throw
 * {@link CallerDeniedException} if no identifiers are given, and the present caller is
 * denied regardless of its limits; and {@link io.github.ratelimit.StoreException} if the
 * store failed, and one of the policies denies requests in that case.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
public interface PolicyLimiter {

	/**
	 * Uses a cost of 1 if every limit of a policy allows it, and nothing otherwise.
	 * @param policy the name of the policy
	 * @param identifiers the identifiers to count by, as for {@link Use}
	 * @return the decision, and what was used
	 */
	default Acquisition tryAcquire(String policy, Identifier... identifiers) {
		return tryAcquire(Use.of(policy, identifiers));
	}

	/**
	 * Uses the cost of each policy if every limit of all policies allows it, and nothing
	 * otherwise. A cost of 0 is always allowed, and does not call the store.
	 * @param uses what is used of each policy; at least one, each of a different policy
	 * @return the decision, and what was used
	 */
	Acquisition tryAcquire(Use... uses);

	/**
	 * Uses a cost of 1 as soon as every limit of a policy allows it.
	 * @param policy the name of the policy
	 * @param identifier the identifier to count by
	 * @param atMost how long to wait at most
	 * @return the decision, and what was used
	 * @throws InterruptedException as {@link #acquire(Duration, Use...)}
	 * @throws IllegalArgumentException as {@link #acquire(Duration, Use...)}
	 */
	default Acquisition acquire(String policy, Identifier identifier, Duration atMost) throws InterruptedException {
		return acquire(atMost, Use.of(policy, identifier));
	}

	/**
	 * Uses the cost of each policy as soon as every limit of all policies allows it. The
	 * caller sleeps meanwhile: see {@link io.github.ratelimit.waiting.WaitingRateLimiter}
	 * for what it promises. Listeners are notified once, of the last decision.
	 * @param atMost how long to wait at most. If that cannot suffice, this is denied at
	 * once. If it is zero or less, or a policy counts denied requests or has a penalty,
	 * so that waiting would be punished, this is {@link #tryAcquire(Use...)}
	 * @param uses what is used of each policy; at least one, each of a different policy
	 * @return the decision, and what was used; its retry-after takes account of those who
	 * wait ahead
	 * @throws InterruptedException if the thread was interrupted before or while it
	 * waited; nothing was used
	 */
	Acquisition acquire(Duration atMost, Use... uses) throws InterruptedException;

	/**
	 * Returns the decision that {@link #tryAcquire(String, Identifier...)} would make
	 * now. Nothing is used, and no listener is notified.
	 * @param policy the name of the policy
	 * @param identifiers the identifiers to count by, as for {@code tryAcquire}
	 * @return the decision, with the current status of every limit
	 */
	default Decision peek(String policy, Identifier... identifiers) {
		return peek(Use.of(policy, identifiers));
	}

	/**
	 * Returns the decision that {@link #tryAcquire(Use...)} would make now. Nothing is
	 * used, and no listener is notified. A cost of 0 checks the limits and blocks.
	 * @param uses what would be used of each policy; at least one, each of a different
	 * policy
	 * @return the decision, with the current status of every limit
	 */
	Decision peek(Use... uses);

	/**
	 * Removes what identifiers have used of the limits of a policy and of its plans, so
	 * that they start anew: after a right password, for example. It also removes their
	 * denials and former penalties, but ends no block and no concurrent request.
	 * @param policy the name of the policy
	 * @param identifiers some that the policy counts by, at least one; others keep their
	 * counts. Do not name an address alone, which the login of any account would clear
	 * @return whether the store has removed the counts; false if it fails and keeps them
	 * @throws IllegalArgumentException also if no identifier is given
	 */
	boolean reset(String policy, Identifier... identifiers);

	/**
	 * What is used of a policy.
	 * <p>
	 * A value; safe for use by several threads.
	 *
	 * @param policy the name of the policy
	 * @param identifiers the identifiers to count by: one for each identifier of the
	 * policy, in any order, with the type that is the name in the configuration.
	 * {@code global} need not be given. Identifiers of a policy with
	 * {@code missing-identifier: skip} may be missing, but not all of them; the fallback
	 * of {@code missing-identifier} may be given alone. Empty for the identifiers of the
	 * present request
	 * @param cost the cost, 0 or more
	 * @param plan the plan whose limits apply; {@code null} for the policy's own, or the
	 * plan of the present user if there are no identifiers
	 */
	record Use(String policy, List<Identifier> identifiers, long cost, @Nullable String plan) {

		/**
		 * Creates a use of a policy.
		 * @throws IllegalArgumentException if the cost is negative
		 */
		public Use {
			identifiers = List.copyOf(identifiers);
			if (cost < 0) {
				throw new IllegalArgumentException("Invalid cost (%s): must not be negative.".formatted(cost));
			}
		}

		/**
		 * Creates a use of cost 1; without identifiers, by those of the present request.
		 */
		public static Use of(String policy, Identifier... identifiers) {
			return new Use(policy, List.of(identifiers), 1, null);
		}

		/**
		 * Returns the same use with another cost, 0 or more.
		 * @throws IllegalArgumentException if the cost is negative
		 */
		public Use withCost(long cost) {
			return new Use(this.policy, this.identifiers, cost, this.plan);
		}

		/**
		 * Returns the same use by a user of a plan. The policy's own limits apply if it
		 * has no such plan.
		 */
		public Use withPlan(String plan) {
			return new Use(this.policy, this.identifiers, this.cost, plan);
		}

	}

	/**
	 * A decision, and what it used.
	 * <p>
	 * Implementations must be safe for use by several threads.
	 */
	interface Acquisition {

		/** Returns the decision, with the status of every limit afterwards. */
		Decision decision();

		/** Returns whether every limit allowed it, so that the cost was used. */
		default boolean allowed() {
			return decision().allowed();
		}

		/**
		 * Ends the request, if a policy limits concurrent ones; what was used of limits
		 * stays used. It has an effect only once. A request counts until then, or until
		 * its lease ends after {@code ratelimit.longest-call}.
		 */
		void end();

		/**
		 * Ends the request, and refunds what was used, where it was counted. It has an
		 * effect only once, and none if nothing was used or the store fails. Refund soon:
		 * see {@link io.github.ratelimit.RateLimiter#refund}.
		 */
		void refund();

	}

}
