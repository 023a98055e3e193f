package io.github.ratelimit.test;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;

import static org.assertj.core.api.Assertions.assertThat;

public abstract class ShadowContract extends RateLimiterContract {

	@EachAlgorithm
	void costThatIsNeverAllowedIsReportedAndNotCounted(Algorithm algorithm) {
		Policy tried = policy("tried", algorithm, "3/m", "100/h").withCountDenied(true);
		Policy wide = policy("wide", algorithm, "9/m");
		Decision decision = this.limiter
			.tryAcquire(RateLimitRequest.of(Charge.of(wide, ALICE), Charge.of(tried, ALICE).withCost(4).inShadow()));
		assertThat(decision.allowed()).isTrue();
		assertThat(decision.shadows().get("tried").allowed()).isFalse();
		assertThat(decision.shadows().get("tried").retryAfter()).isEmpty();
		assertThat(remaining(wide, ALICE)).containsExactly(8L);
		assertThat(remaining(tried, ALICE)).containsExactly(3L, 100L);
	}

	@EachAlgorithm
	void shadowsAreRefundedAndChargedAsOthers(Algorithm algorithm) {
		Policy tried = policy("tried", algorithm, "5/m");
		Policy wide = policy("wide", algorithm, "9/m");
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

	/** All or nothing, whoever else is denied. */
	@EachAlgorithm
	void othersAndEachShadowAreDecidedAsIfAlone(Algorithm algorithm) {
		for (boolean countDenied : List.of(false, true)) {
			Random random = new Random(5);
			RateLimiter together = newRateLimiter();
			RateLimiter apart = newRateLimiter();
			Policy narrow = policy("narrow", algorithm, "4/m").withCountDenied(countDenied);
			Policy tried = policy("tried", algorithm, "3/m", "9/10m").withCountDenied(countDenied);
			Policy other = policy("other", algorithm, "5/2m");
			for (int i = 0; i < 60; i++) {
				Charge first = Charge.of(tried, ALICE, ADDRESS).withCost(random.nextInt(3));
				Charge second = Charge.of(other, ADDRESS).withCost(random.nextInt(4));
				RateLimitRequest enforced = RateLimitRequest.of(Charge.of(narrow, ALICE, ADDRESS));
				Decision expected = apart.tryAcquire(enforced);
				Function<RateLimitRequest, Decision> alone = expected.allowed() ? apart::tryAcquire : apart::peek;
				Map<String, Decision> shadows = Map.of("tried", alone.apply(RateLimitRequest.of(first)), "other",
						alone.apply(RateLimitRequest.of(second)));
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
