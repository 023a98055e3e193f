package io.github.ratelimit.algorithm;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.test.ManualClock;
import org.jspecify.annotations.Nullable;

/** Random requests, some of which come as early as they may, or a little earlier. */
final class Traffic {

	static final int MOST = 80;

	private static final List<String> WINDOWS = List.of("ms", "7ms", "s", "13s", "m", "90m");

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20.123456Z");

	private final RateLimiter limiter = new MemoryRateLimiter(this.clock);

	private final Random random;

	final Policy policy;

	/** For what is charged and given back before each request. */
	@Nullable Random charges;

	Traffic(Algorithm algorithm, int seed) {
		this.random = new Random(seed);
		List<Limit> limits = new ArrayList<>();
		for (String window : WINDOWS) {
			if (this.random.nextInt(3) == 0 || (limits.isEmpty() && "90m".equals(window))) {
				limits.add(Limit.parse((1 + this.random.nextInt(8)) + "/" + window));
			}
		}
		this.policy = new Policy("api", algorithm, limits);
	}

	List<Request> send() {
		boolean weighted = this.random.nextBoolean();
		int haste = this.random.nextInt(4);
		List<Request> requests = new ArrayList<>();
		for (int i = 0; i < MOST; i++) {
			long cost = weighted ? 1 + this.random.nextInt(4) : 1;
			if (this.charges != null) {
				chargeAndRefund(this.charges);
			}
			Decision decision = this.limiter.tryAcquire(this.policy, Identifier.GLOBAL, cost);
			requests.add(new Request(micros(this.clock), cost, decision.allowed()));
			if (!decision.allowed() || this.random.nextInt(4) >= haste) {
				this.clock.advance(pause(decision));
			}
		}
		return requests;
	}

	private void chargeAndRefund(Random charges) {
		long most = this.policy.limits().stream().mapToLong(Limit::quota).max().orElseThrow();
		RateLimitRequest request = RateLimitRequest
			.of(Charge.of(this.policy, Identifier.GLOBAL).withCost(charges.nextLong(most + 1)));
		this.limiter.charge(request);
		this.limiter.refund(request);
	}

	private Duration pause(Decision decision) {
		long window = this.policy.limits().get(this.random.nextInt(this.policy.limits().size())).windowMicros();
		long now = micros(this.clock);
		long pause = switch (this.random.nextInt(6)) {
			case 0 -> window - now % window;
			case 1 -> window - now % window - 1;
			case 2 -> window - this.random.nextInt(2);
			case 3 -> this.random.nextLong(2 * window);
			case 4 -> this.random.nextLong(1 + window / 8);
			default -> decision.retryAfter().map((wait) -> wait.toNanos() / 1000).orElse(0L);
		};
		return Duration.of(pause, ChronoUnit.MICROS);
	}

	/** Most that was used in any half-open stretch of the length. */
	static long mostInAnyStretch(List<Request> requests, long length) {
		long most = 0;
		long used = 0;
		Deque<Request> stretch = new ArrayDeque<>();
		for (Request request : requests) {
			stretch.add(request);
			used += request.cost;
			while (request.at - stretch.element().at >= length) {
				used -= stretch.remove().cost;
			}
			most = Math.max(most, used);
		}
		return most;
	}

	static long usedSince(List<Request> requests, long start) {
		return requests.stream().filter((request) -> request.at >= start).mapToLong(Request::cost).sum();
	}

	static long micros(ManualClock clock) {
		return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
	}

	record Request(long at, long cost, boolean allowed) {

	}

}
