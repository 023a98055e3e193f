package io.github.ratelimit.spring.test;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

@WebMvcTest(properties = { "ratelimit.policies.greeting.limits=1/m", "ratelimit.policies.greeting.paths=/greeting" })
@AutoConfigureRateLimit
class LimitsInSliceTests {

	@Autowired
	private MockMvcTester mvc;

	@ParameterizedTest
	@ValueSource(strings = { "/greeting", "/farewell" })
	void limitsAreEnforcedInPartOfApplication(String path) {
		assertThat(this.mvc.get().uri(path)).hasStatus(200);
		assertThat(this.mvc.get().uri(path)).hasStatus(429);
	}

}
