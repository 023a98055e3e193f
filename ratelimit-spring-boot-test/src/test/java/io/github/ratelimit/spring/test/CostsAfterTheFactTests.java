package io.github.ratelimit.spring.test;

import java.time.Duration;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = { "ratelimit.policies.login.limits=2/15m", "ratelimit.policies.login.paths=/login",
		"ratelimit.policies.login.count-when=status in [401]", "ratelimit.policies.tokens.limits=100/m",
		"ratelimit.policies.tokens.paths=/tokens", "ratelimit.policies.tokens.cost=10" })
@AutoConfigureMockMvc
@AutoConfigureRateLimit
class CostsAfterTheFactTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private LimitClock clock;

	@BeforeEach
	void forget() {
		this.clock.advance(Duration.ofHours(1));
	}

	@Test
	void onlyFailedLoginsCount() {
		for (int i = 0; i < 5; i++) {
			assertThat(this.mvc.post().uri("/login?password=secret")).hasStatus(200);
		}
		assertThat(this.mvc.post().uri("/login?password=guess")).hasStatus(401);
		assertThat(this.mvc.post().uri("/login?password=guess")).hasStatus(401);
		assertThat(this.mvc.post().uri("/login?password=secret")).hasStatus(429);
	}

	@Test
	void trueCostIsSettledAfterAsynchronousDispatch() {
		assertThat(this.mvc.get().uri("/tokens?tokens=60")).hasStatus(200).hasHeader("X-Rate-Limit-Remaining", "90");
		assertThat(this.mvc.get().uri("/tokens?tokens=1")).hasStatus(200).hasHeader("X-Rate-Limit-Remaining", "30");
		assertThat(this.mvc.get().uri("/tokens?tokens=1")).hasHeader("X-Rate-Limit-Remaining", "29");
	}

	@Test
	void testFailsWhenCodeSettlesCostOfUnknownPolicy() {
		assertThat(this.mvc.get().uri("/misspelt")).hasFailed()
			.failure()
			.rootCause()
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessage("Invalid policy (token): must be one of [GreetingController.leave, login, tokens]."
					+ " Did you mean 'tokens'?");
	}

}
