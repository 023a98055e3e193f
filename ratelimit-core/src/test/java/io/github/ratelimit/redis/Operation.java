package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;

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
import org.jspecify.annotations.Nullable;

/**
 * One step of a random sequence: what is asked of a rate limiter, or what happens to the
 * time. Texts are short, because people read the sequence that a failure is shrunk to.
 *
 * @param policies whose counts are looked at or changed
 * @param question what is asked at which time, of which the answer can be compared
 * @param time sets the clock, given the last decision
 * @param single how the same is asked in a batch
 */
record Operation(String text, List<Policy> policies, BiFunction<RateLimiter, Instant, Object> question,
		BiConsumer<ManualClock, Decision> time, @Nullable Single single) {

	private static final BiConsumer<ManualClock, Decision> STANDS_STILL = (clock, last) -> {
	};

	/** The decision of an operation that comes to none. */
	static final Decision NONE = new Decision(true, List.of());

	/**
	 * An operation of a script.
	 *
	 * @param decides whether it comes to a decision
	 */
	record Single(io.github.ratelimit.redis.script.Operation operation, RateLimitRequest request, boolean decides) {
	}

	private static Operation of(String text, List<Policy> policies, Function<RateLimiter, Object> question) {
		return new Operation(text, policies, (limiter, now) -> question.apply(limiter), STANDS_STILL, null);
	}

	private static Operation of(String text, BiConsumer<ManualClock, Decision> time) {
		return new Operation(text, List.of(), (limiter, now) -> NONE, time, null);
	}

	private static Operation of(String verb, RateLimitRequest request, Function<RateLimiter, Object> question) {
		return of(verb + " " + text(request), request.charges().stream().map(Charge::policy).toList(), question);
	}

	private static Operation of(Policy policy, String text, Function<RateLimiter, Object> question) {
		return of(text + " in " + policy.name() + policy.limits(), List.of(policy), question);
	}

	private Operation inBatch(io.github.ratelimit.redis.script.Operation operation, RateLimitRequest request,
			boolean decides) {
		return new Operation(this.text, this.policies, this.question, this.time,
				new Single(operation, request, decides));
	}

	static Operation acquire(RateLimitRequest request) {
		return of("acquire", request, (limiter) -> limiter.tryAcquire(request))
			.inBatch(io.github.ratelimit.redis.script.Operation.ACQUIRE, request, true);
	}

	static Operation peek(RateLimitRequest request) {
		return of("peek", request, (limiter) -> limiter.peek(request))
			.inBatch(io.github.ratelimit.redis.script.Operation.PEEK, request, true);
	}

	static Operation refund(RateLimitRequest request) {
		return of("refund", request, asked(request, RateLimiter::refund))
			.inBatch(io.github.ratelimit.redis.script.Operation.REFUND, request, false);
	}

	private static Function<RateLimiter, Object> asked(RateLimitRequest request,
			BiConsumer<RateLimiter, RateLimitRequest> change) {
		return (limiter) -> {
			change.accept(limiter, request);
			return limiter.peek(request);
		};
	}

	static Operation charge(RateLimitRequest request) {
		return of("charge", request, asked(request, RateLimiter::charge))
			.inBatch(io.github.ratelimit.redis.script.Operation.CHARGE, request.withPossibleCosts(), false);
	}

	/** Gives back at once what was acquired, so that windows begin and are empty. */
	static Operation undone(RateLimitRequest request) {
		return of("acquire and refund", request, (limiter) -> {
			Decision decision = limiter.tryAcquire(request);
			limiter.refund(request);
			return decision;
		});
	}

	static Operation reserve(Policy policy, Identifier identifier, long cost) {
		return of(policy, "reserve " + cost + " by " + identifier,
				(limiter) -> limiter.reserve(policy, identifier, cost));
	}

	/** Cancels what was reserved some time ago, or what was not. */
	static Operation cancel(Policy policy, Identifier identifier, long cost, Duration ago) {
		return new Operation("cancel " + cost + " of " + policy.name() + " by " + identifier + " of " + ago + " ago",
				List.of(policy), (limiter, now) -> {
					limiter.cancel(policy, identifier, cost, now.minus(ago));
					return limiter.peek(RateLimitRequest.of(policy, identifier));
				}, STANDS_STILL, null);
	}

	static Operation reset(Policy policy, Identifier identifier) {
		return of(policy, "reset " + identifier, (limiter) -> {
			limiter.reset(policy, identifier);
			return NONE;
		});
	}

	/** Reads back what the algorithm remembers: requests, windows or neither. */
	static Operation history(Policy policy, Identifier identifier) {
		return of(policy, "read history of " + identifier, (limiter) -> {
			RequestHistory history = (RequestHistory) limiter;
			if (policy.algorithm().keepsEntries()) {
				return history.entries(policy, identifier);
			}
			return policy.algorithm().keepsWindows() ? history.series(policy, identifier) : NONE;
		});
	}

	static Operation countDenials(Charge denials) {
		return of("count denials: " + text(denials), List.of(denials.policy()), (limiter) -> {
			limiter.countDenials(List.of(denials));
			return NONE;
		});
	}

	/** Blocks an identifier in one policy, or in all where its name is empty. */
	static Operation block(Identifier identifier, String policy, Duration time) {
		return of("block " + identifier + " in '" + policy + "' for " + time, List.of(),
				(limiter) -> ((BlockList) limiter).block(identifier, policy.isEmpty() ? null : policy, time,
						"for " + time));
	}

	/** Ends a block in one policy, or that in all where its name is empty. */
	static Operation unblock(Identifier identifier, String policy) {
		return of("unblock " + identifier + " in '" + policy + "'", List.of(),
				(limiter) -> ((BlockList) limiter).unblock(identifier, policy.isEmpty() ? null : policy));
	}

	/** Lists the blocks; those that end at the same time are in no order. */
	static Operation listBlocks() {
		return of("list blocks", List.of(), (limiter) -> {
			List<Block> blocks = ((BlockList) limiter).blocks();
			return List.of(blocks.stream().map(Block::until).toList(), blocks.size(), Set.copyOf(blocks));
		});
	}

	static Operation advance(Duration time) {
		return of("advance " + time, (clock, last) -> clock.advance(time));
	}

	/** The clock goes on to the end of an aligned window, or a little beside it. */
	static Operation advanceToEdge(Duration window, long microsBeside) {
		return of("advance to edge of " + window + " and " + microsBeside + " us", (clock, last) -> {
			long now = ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
			long micros = window.toNanos() / 1000;
			clock.advance(Duration.of(micros - now % micros + microsBeside, ChronoUnit.MICROS));
		});
	}

	/**
	 * The clock goes on to when the last request may be tried again, or a little beside
	 * it.
	 */
	static Operation awaitRetry(long microsBeside) {
		return of("await retry and " + microsBeside + " us", (clock, last) -> last.retryAfter()
			.ifPresent((wait) -> clock.advance(wait.plus(microsBeside, ChronoUnit.MICROS))));
	}

	Object ask(RateLimiter limiter, ManualClock clock) {
		return this.question.apply(limiter, clock.instant());
	}

	void pass(ManualClock clock, Decision last) {
		this.time.accept(clock, last);
	}

	/** The answer, if it is a decision. */
	static Optional<Decision> decision(Object answer) {
		return (answer instanceof Decision decision && decision != NONE) ? Optional.of(decision) : Optional.empty();
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

	@Override
	public String toString() {
		return this.text;
	}

}
