package io.github.ratelimit.spring;

import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.test.PublicApi;
import org.junit.jupiter.api.Test;

/**
 * What users can name changes only together with {@code api.txt}.
 */
class PublicApiTests {

	@Test
	void publicApiIsAsWritten() throws Exception {
		PublicApi.assertIsAsWritten(ConfiguredPolicies.class);
	}

}
