package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.test.ManualClock;

/**
 * One step of a random sequence: what is asked of a rate limiter, or what happens to the
 * time. Texts are short, because people read the sequence that a failure is shrunk to.
 */
sealed interface Operation {

	/** The decision of an operation that comes to none. */
	Decision NONE = new Decision(true, List.of());

	/** Asks the rate limiter. */
	default Decision ask(RateLimiter limiter) {
		return NONE;
	}

	/**
	 * Sets the clock.
	 * @param last the last decision
	 */
	default void pass(ManualClock clock, Decision last) {
	}

	private static String text(RateLimitRequest request) {
		return String.join(" & ", request.charges().stream().map(Operation::text).toList());
	}

	private static String text(Charge charge) {
		return charge.cost() + " of " + charge.policy().name() + charge.policy().limits() + " by "
				+ charge.identifiers();
	}

	record Acquire(RateLimitRequest request) implements Operation {

		@Override
		public Decision ask(RateLimiter limiter) {
			return limiter.tryAcquire(this.request);
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
		public String toString() {
			return "refund " + text(this.request);
		}

	}

	record Reset(Policy policy, Identifier identifier) implements Operation {

		@Override
		public Decision ask(RateLimiter limiter) {
			limiter.reset(this.policy, this.identifier);
			return NONE;
		}

		@Override
		public String toString() {
			return "reset " + this.policy.name() + " of " + this.identifier;
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
