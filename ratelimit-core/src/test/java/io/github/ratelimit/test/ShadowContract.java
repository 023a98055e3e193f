package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Charges in shadow mode beside others.
 */
public abstract class ShadowContract extends RateLimiterContract {

	@ParameterizedTest
	@MethodSource("algorithms")
	void shadowNeverDeniesAndTellsWhatItWouldHaveDone(Algorithm algorithm) {
		Policy wide = Policy.of("wide", algorithm, Limit.parse("9/m"));
		Policy tried = Policy.of("tried", algorithm, Limit.parse("1/h"));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(tried, ALICE).inShadow(), Charge.of(wide, ALICE));
		assertThat(this.limiter.tryAcquire(request).shadows().get("tried").allowed()).isTrue();
		for (int i = 0; i < 3; i++) {
			Decision decision = this.limiter.tryAcquire(request);
			assertThat(decision.allowed()).isTrue();
			assertThat(decision.violated()).isEmpty();
			assertThat(decision.retryAfter()).contains(Duration.ZERO);
			assertThat(decision.statuses()).extracting(LimitStatus::policy).containsExactly(wide);
			Decision shadow = decision.shadow(request.charges().get(0));
			assertThat(shadow.allowed()).isFalse();
			assertThat(shadow.violated()).extracting(LimitStatus::policy).containsExactly(tried);
			assertThat(shadow.retryAfter().orElseThrow()).isPositive();
		}
		assertThat(remaining(wide, ALICE)).containsExactly(5L);
		assertThat(remaining(tried, ALICE)).containsExactly(0L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void eachShadowIsAllOrNothingByItself(Algorithm algorithm) {
		Policy first = Policy.of("first", algorithm, Limit.parse("2/m"), Limit.parse("9/h"));
		Policy second = Policy.of("second", algorithm, Limit.parse("9/m"));
		this.limiter.tryAcquire(first, ADDRESS, 2);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(first, ALICE, ADDRESS).inShadow(),
				Charge.of(second, ADDRESS, ALICE).inShadow());
		Decision decision = this.limiter.tryAcquire(request);
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.statuses()).isEmpty();
		assertThat(decision.shadows().values()).extracting(Decision::allowed).containsExactly(false, true);
		assertThat(decision.shadows().get("first").violated()).singleElement()
			.satisfies((status) -> assertThat(status.identifier()).isEqualTo(ADDRESS));
		assertThat(remaining(first, ALICE)).containsExactly(2L, 9L);
		assertThat(remaining(first, ADDRESS)).containsExactly(0L, 7L);
		assertThat(remaining(second, ALICE)).containsExactly(8L);
		assertThat(remaining(second, ADDRESS)).containsExactly(8L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void deniedRequestUsesNothingOfAShadow(Algorithm algorithm) {
		Policy full = Policy.of("full", algorithm, Limit.parse("1/m"));
		Policy tried = Policy.of("tried", algorithm, Limit.parse("5/h"));
		Policy strict = Policy.of("strict", algorithm, Limit.parse("5/h")).withCountDenied(true);
		this.limiter.tryAcquire(full, ADDRESS);
		this.limiter.tryAcquire(strict, ADDRESS, 5);
		RateLimitRequest request = RateLimitRequest.of(Charge.of(strict, ALICE, ADDRESS).inShadow(),
				Charge.of(full, ADDRESS), Charge.of(tried, ALICE, ADDRESS).inShadow());
		Decision peeked = this.limiter.peek(request);
		Decision denied = this.limiter.tryAcquire(request);
		assertThat(denied).isEqualTo(peeked).isEqualTo(this.limiter.peek(request));
		assertThat(denied.allowed()).isFalse();
		assertThat(denied.violated()).extracting(LimitStatus::policy).containsExactly(full);
		assertThat(denied.retryAfter().orElseThrow()).isLessThanOrEqualTo(Duration.ofMinutes(2));
		assertThat(denied.shadows().values()).extracting(Decision::allowed).containsExactly(false, true);
		assertThat(remaining(tried, ALICE)).containsExactly(5L);
		assertThat(remaining(strict, ALICE)).containsExactly(5L);
		assertThat(remaining(strict, ADDRESS)).containsExactly(0L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void costThatIsNeverAllowedIsReportedAndNotCounted(Algorithm algorithm) {
		Policy tried = Policy.of("tried", algorithm, Limit.parse("3/m"), Limit.parse("100/h")).withCountDenied(true);
		Policy wide = Policy.of("wide", algorithm, Limit.parse("9/m"));
		Decision decision = this.limiter
			.tryAcquire(RateLimitRequest.of(Charge.of(wide, ALICE), Charge.of(tried, ALICE).withCost(4).inShadow()));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.shadows().get("tried").allowed()).isFalse();
		assertThat(decision.shadows().get("tried").retryAfter()).isEmpty();
		assertThat(remaining(wide, ALICE)).containsExactly(8L);
		assertThat(remaining(tried, ALICE)).containsExactly(3L, 100L);
	}

	@ParameterizedTest
	@MethodSource("algorithms")
	void shadowsAreRefundedAndChargedAsOthers(Algorithm algorithm) {
		Policy tried = Policy.of("tried", algorithm, Limit.parse("5/m"));
		Policy wide = Policy.of("wide", algorithm, Limit.parse("9/m"));
		RateLimitRequest request = RateLimitRequest.of(Charge.of(tried, ALICE, ADDRESS).withCost(3).inShadow(),
				Charge.of(wide, ALICE));
		this.limiter.tryAcquire(request);
		assertThat(remaining(tried, ADDRESS)).containsExactly(2L);
		this.limiter.refund(request);
		assertThat(remaining(tried, ADDRESS)).containsExactly(5L);
		this.limiter.charge(request);
		this.limiter.charge(request);
		assertThat(remaining(tried, ADDRESS)).containsExactly(0L);
		assertThat(remaining(wide, ALICE)).containsExactly(7L);
	}

	/** Over some time, and whether denied requests count or not. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void othersAndEachShadowAreDecidedAsIfAlone(Algorithm algorithm) {
		for (boolean countDenied : List.of(false, true)) {
			Random random = new Random(5);
			RateLimiter together = newRateLimiter();
			RateLimiter apart = newRateLimiter();
			Policy narrow = Policy.of("narrow", algorithm, Limit.parse("4/m")).withCountDenied(countDenied);
			Policy tried = Policy.of("tried", algorithm, Limit.parse("3/m"), Limit.parse("9/10m"))
				.withCountDenied(countDenied);
			Policy other = Policy.of("other", algorithm, Limit.parse("5/2m"));
			for (int i = 0; i < 60; i++) {
				Charge first = Charge.of(tried, ALICE, ADDRESS).withCost(random.nextInt(3));
				Charge second = Charge.of(other, ADDRESS).withCost(random.nextInt(4));
				RateLimitRequest enforced = RateLimitRequest.of(Charge.of(narrow, ALICE, ADDRESS));
				Decision expected = apart.tryAcquire(enforced);
				Map<String, Decision> shadows = expected.allowed()
						? Map.of("tried", apart.tryAcquire(RateLimitRequest.of(first)), "other",
								apart.tryAcquire(RateLimitRequest.of(second)))
						: Map.of("tried", apart.peek(RateLimitRequest.of(first)), "other",
								apart.peek(RateLimitRequest.of(second)));
				Decision decision = together
					.tryAcquire(RateLimitRequest.of(first.inShadow(), enforced.charges().get(0), second.inShadow()));
				assertThat(decision.shadows()).as("step %d", i).isEqualTo(shadows);
				assertThat(decision.statuses()).as("step %d", i).isEqualTo(expected.statuses());
				assertThat(decision.allowed()).isEqualTo(expected.allowed());
				this.clock.advance(Duration.ofMillis(random.nextInt(30_000)));
			}
		}
	}

}
