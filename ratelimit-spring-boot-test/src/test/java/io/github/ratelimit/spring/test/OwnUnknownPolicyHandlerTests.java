package io.github.ratelimit.spring.test;

import io.github.ratelimit.spring.decide.UnknownPolicyHandler;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Bean;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that handles unknown policies by itself, in tests as well.
 */
@SpringBootTest(properties = { "ratelimit.policies.tokens.limits=100/m", "ratelimit.policies.tokens.paths=/tokens" })
@AutoConfigureMockMvc
@AutoConfigureRateLimit
class OwnUnknownPolicyHandlerTests {

	@Autowired
	private MockMvcTester mvc;

	@Test
	void handlerOfTheApplicationIsUsed() {
		assertThat(this.mvc.get().uri("/misspelt")).hasFailed()
			.failure()
			.rootCause()
			.isInstanceOf(UnsupportedOperationException.class);
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Handlers {

		@Bean
		UnknownPolicyHandler ownUnknownPolicyHandler() {
			return (unknown) -> {
				throw new UnsupportedOperationException("expected by this test");
			};
		}

	}

}
