package io.github.ratelimit.spring.web;

import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.test.ManualClock;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A true cost for a policy that does not exist is told.
 */
@ExtendWith(OutputCaptureExtension.class)
class SettledPoliciesTests {

	private static final String ERROR = "A true cost is not settled: Invalid policy ";

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withBean(MemoryRateLimiter.class, () -> new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")))
		.withBean(Limited.class)
		.withPropertyValues("ratelimit.policies.tokens.limits=10/s", "ratelimit.policies.bytes.limits=10/s");

	@Test
	void unknownPolicyIsLoggedOnceAsError(CapturedOutput output) {
		this.runner.run((context) -> {
			for (int i = 0; i < 3; i++) {
				assertThat(CostSettlement.of(request(context)).settle("token", 5)).isFalse();
			}
			CostSettlement.of(request(context)).settle("rows", 5);
			assertThat(StringUtils.countOccurrencesOf(output.toString(), ERROR)).isEqualTo(2);
			assertThat(output).contains("ERROR")
				.contains(ERROR + "(token): must be one of [Limited.call, bytes, tokens]. Did you mean 'tokens'?")
				.contains(ERROR + "(rows): must be one of [Limited.call, bytes, tokens].");
		});
	}

	/** It counts nothing, or the limiter is off. */
	@ParameterizedTest
	@CsvSource({ "tokens, true", "Limited.call, true", "token, false" })
	void nothingIsSaidOfPolicyThatDoesNotCount(String policy, boolean enabled, CapturedOutput output) {
		this.runner.withPropertyValues("ratelimit.enabled=" + enabled).run((context) -> {
			assertThat(CostSettlement.of(request(context)).settle(policy, 5)).isFalse();
			assertThat(output).doesNotContain(ERROR);
		});
	}

	private static HttpServletRequest request(AssertableWebApplicationContext context) {
		return new MockHttpServletRequest(context.getServletContext());
	}

	static class Limited {

		@RateLimited(limits = "1/s")
		public void call() {
		}

	}

}
