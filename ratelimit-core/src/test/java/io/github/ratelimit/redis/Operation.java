package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.github.ratelimit.Block;
import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.test.ManualClock;

/**
 * One step of a random sequence: what is asked of a rate limiter, or what happens to the
 * time. Texts are short, because people read the sequence that a failure is shrunk to.
 */
sealed interface Operation {

	/** The decision of an operation that comes to none. */
	Decision NONE = new Decision(true, List.of());

	/**
	 * Asks the rate limiter.
	 * @return the decision, or whatever else can be compared
	 */
	default Object ask(RateLimiter limiter) {
		return NONE;
	}

	/** Whose counts are looked at or changed. */
	default List<Policy> policies() {
		return List.of();
	}

	/**
	 * Sets the clock.
	 * @param last the last decision
	 */
	default void pass(ManualClock clock, Decision last) {
	}

	/** The answer, if it is a decision. */
	static Optional<Decision> decision(Object answer) {
		return (answer instanceof Decision decision && decision != NONE) ? Optional.of(decision) : Optional.empty();
	}

	private static List<Policy> policies(RateLimitRequest request) {
		return request.charges().stream().map(Charge::policy).toList();
	}

	private static String text(RateLimitRequest request) {
		String charges = String.join(" & ", request.charges().stream().map(Operation::text).toList());
		String call = (request.call() != 0) ? charges + " as call " + request.call() : charges;
		return request.metadata().isEmpty() ? call : call + " with '" + request.metadata() + "'";
	}

	private static String text(Charge charge) {
		return (charge.shadow() ? "in shadow " : "") + charge.cost() + " of " + charge.policy().name()
				+ charge.policy().limits() + " by " + charge.identifiers();
	}

	record Acquire(RateLimitRequest request) implements Operation {

		@Override
		public Decision ask(RateLimiter limiter) {
			return limiter.tryAcquire(this.request);
		}

		@Override
		public List<Policy> policies() {
			return Operation.policies(this.request);
		}

		@Override
		public String toString() {
			return "acquire " + text(this.request);
		}

	}

	record Peek(RateLimitRequest request) implements Operation {

		@Override
		public Decision ask(RateLimiter limiter) {
			return limiter.peek(this.request);
		}

		@Override
		public List<Policy> policies() {
			return Operation.policies(this.request);
		}

		@Override
		public String toString() {
			return "peek " + text(this.request);
		}

	}

	record Refund(RateLimitRequest request) implements Operation {

		@Override
		public Decision ask(RateLimiter limiter) {
			limiter.refund(this.request);
			return limiter.peek(this.request);
		}

		@Override
		public List<Policy> policies() {
			return Operation.policies(this.request);
		}

		@Override
		public String toString() {
			return "refund " + text(this.request);
		}

	}

	/** Gives back at once what was acquired, so that windows begin and are empty. */
	record Undone(RateLimitRequest request) implements Operation {

		@Override
		public Decision ask(RateLimiter limiter) {
			Decision decision = limiter.tryAcquire(this.request);
			limiter.refund(this.request);
			return decision;
		}

		@Override
		public List<Policy> policies() {
			return Operation.policies(this.request);
		}

		@Override
		public String toString() {
			return "acquire and refund " + text(this.request);
		}

	}

	record Charged(RateLimitRequest request) implements Operation {

		@Override
		public Decision ask(RateLimiter limiter) {
			limiter.charge(this.request);
			return limiter.peek(this.request);
		}

		@Override
		public List<Policy> policies() {
			return Operation.policies(this.request);
		}

		@Override
		public String toString() {
			return "charge " + text(this.request);
		}

	}

	record Reserved(Policy policy, Identifier identifier, long cost) implements Operation {

		@Override
		public Object ask(RateLimiter limiter) {
			return limiter.reserve(this.policy, this.identifier, this.cost);
		}

		@Override
		public List<Policy> policies() {
			return List.of(this.policy);
		}

		@Override
		public String toString() {
			return "reserve " + this.cost + " of " + this.policy.name() + this.policy.limits() + " by "
					+ this.identifier;
		}

	}

	/** Cancels what was reserved some time ago, or what was not. */
	final class Cancelled implements Operation {

		private final Policy policy;

		private final Identifier identifier;

		private final long cost;

		private final Duration ago;

		private Instant since = Instant.EPOCH;

		Cancelled(Policy policy, Identifier identifier, long cost, Duration ago) {
			this.policy = policy;
			this.identifier = identifier;
			this.cost = cost;
			this.ago = ago;
		}

		@Override
		public void pass(ManualClock clock, Decision last) {
			this.since = clock.instant().minus(this.ago);
		}

		@Override
		public Object ask(RateLimiter limiter) {
			limiter.cancel(this.policy, this.identifier, this.cost, this.since);
			return limiter.peek(RateLimitRequest.of(this.policy, this.identifier));
		}

		@Override
		public List<Policy> policies() {
			return List.of(this.policy);
		}

		@Override
		public String toString() {
			return "cancel " + this.cost + " of " + this.policy.name() + this.policy.limits() + " by " + this.identifier
					+ " of " + this.ago + " ago";
		}

	}

	record Reset(Policy policy, Identifier identifier) implements Operation {

		@Override
		public Decision ask(RateLimiter limiter) {
			limiter.reset(this.policy, this.identifier);
			return NONE;
		}

		@Override
		public List<Policy> policies() {
			return List.of(this.policy);
		}

		@Override
		public String toString() {
			return "reset " + this.policy.name() + " of " + this.identifier;
		}

	}

	/** Reads back what the algorithm remembers: requests, windows or neither. */
	record ReadHistory(Policy policy, Identifier identifier) implements Operation {

		@Override
		public Object ask(RateLimiter limiter) {
			RequestHistory history = (RequestHistory) limiter;
			if (this.policy.algorithm().keepsEntries()) {
				return history.entries(this.policy, this.identifier);
			}
			return this.policy.algorithm().keepsWindows() ? history.series(this.policy, this.identifier) : NONE;
		}

		@Override
		public List<Policy> policies() {
			return List.of(this.policy);
		}

		@Override
		public String toString() {
			return "read history of " + this.identifier + " in " + this.policy.name() + this.policy.limits();
		}

	}

	/** Counts denials by something before the limiter. */
	record CountDenials(Charge denials) implements Operation {

		@Override
		public Object ask(RateLimiter limiter) {
			limiter.countDenials(List.of(this.denials));
			return NONE;
		}

		@Override
		public List<Policy> policies() {
			return List.of(this.denials.policy());
		}

		@Override
		public String toString() {
			return "count denials: " + text(this.denials);
		}

	}

	/** Blocks an identifier in one policy, or in all where its name is empty. */
	record BlockFor(Identifier identifier, String policy, Duration time) implements Operation {

		@Override
		public Object ask(RateLimiter limiter) {
			return ((BlockList) limiter).block(this.identifier, this.policy.isEmpty() ? null : this.policy, this.time,
					"for " + this.time);
		}

		@Override
		public String toString() {
			return "block " + this.identifier + " in '" + this.policy + "' for " + this.time;
		}

	}

	/** Ends a block in one policy, or that in all where its name is empty. */
	record Unblock(Identifier identifier, String policy) implements Operation {

		@Override
		public Object ask(RateLimiter limiter) {
			return ((BlockList) limiter).unblock(this.identifier, this.policy.isEmpty() ? null : this.policy);
		}

		@Override
		public String toString() {
			return "unblock " + this.identifier + " in '" + this.policy + "'";
		}

	}

	/** Lists the blocks; those that end at the same time are in no order. */
	record ListBlocks() implements Operation {

		@Override
		public Object ask(RateLimiter limiter) {
			List<Block> blocks = ((BlockList) limiter).blocks();
			return List.of(blocks.stream().map(Block::until).toList(), blocks.size(), Set.copyOf(blocks));
		}

		@Override
		public String toString() {
			return "list blocks";
		}

	}

	/** The clock goes on, or is set back. */
	record Advance(Duration time) implements Operation {

		@Override
		public void pass(ManualClock clock, Decision last) {
			clock.advance(this.time);
		}

		@Override
		public String toString() {
			return "advance " + this.time;
		}

	}

	/** The clock goes on to the end of an aligned window, or a little beside it. */
	record AdvanceToEdge(Duration window, long microsBeside) implements Operation {

		@Override
		public void pass(ManualClock clock, Decision last) {
			long now = ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
			long micros = this.window.toNanos() / 1000;
			clock.advance(Duration.of(micros - now % micros + this.microsBeside, ChronoUnit.MICROS));
		}

		@Override
		public String toString() {
			return "advance to edge of " + this.window + " and " + this.microsBeside + " us";
		}

	}

	/**
	 * The clock goes on to when the last request may be tried again, or a little beside
	 * it.
	 */
	record AwaitRetry(long microsBeside) implements Operation {

		@Override
		public void pass(ManualClock clock, Decision last) {
			last.retryAfter().ifPresent((wait) -> clock.advance(wait.plus(this.microsBeside, ChronoUnit.MICROS)));
		}

		@Override
		public String toString() {
			return "await retry and " + this.microsBeside + " us";
		}

	}

}
