package io.github.ratelimit.test;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The times that every store refuses.
 */
public abstract class TimeRangeContract extends RateLimiterContract {

	/** Nobody is denied, or decided about by numbers that are not exact. */
	@ParameterizedTest
	@ValueSource(strings = { "1969-12-31T23:59:59.999999Z", "-1000000000-01-01T00:00:00Z",
			"2255-06-05T23:47:34.740992Z", "+1000000000-12-31T23:59:59.999999Z" })
	protected void timeThatNoStoreCanCalculateWithIsRefused(String time) {
		this.clock.set(time);
		for (Algorithm algorithm : supportedAlgorithms().toList()) {
			RateLimitRequest request = RateLimitRequest.of(Policy.of("api", algorithm, Limit.parse("5/m")), ALICE);
			assertThatIllegalArgumentException().isThrownBy(() -> this.limiter.tryAcquire(request))
				.withMessageStartingWith("Invalid time (" + time + "): must be from 1970-01-01T00:00:00Z to 2255-");
			assertThatIllegalArgumentException().isThrownBy(() -> this.limiter.peek(request));
			assertThatIllegalArgumentException().isThrownBy(() -> this.limiter.refund(request));
			assertThatIllegalArgumentException().isThrownBy(() -> this.limiter.charge(request));
		}
	}

}
