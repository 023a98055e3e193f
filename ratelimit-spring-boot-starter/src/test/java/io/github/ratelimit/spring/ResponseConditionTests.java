package io.github.ratelimit.spring;

import io.github.ratelimit.spring.policy.ResponseCondition;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link ResponseCondition}.
 */
class ResponseConditionTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "status in [401]| 401| true", "status in [401]| 402| false", "status in [401, 403]| 403| true",
					"  status  in  [ 401,403 ] | 403| true", "status in [4xx]| 400| true", "status in [4xx]| 499| true",
					"status in [4xx]| 399| false", "status in [4xx]| 500| false", "status in [200, 5xx]| 503| true",
					"status in [200, 5xx]| 201| false" })
	void statusMatchesWhenItIsOneOfThese(String text, int status, boolean matches) {
		assertThat(ResponseCondition.parse(text).matches(status)).isEqualTo(matches);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "status in [401]| status in [401]", "  status  in  [ 401,4xx ,100] | status in [401, 4xx, 100]" })
	void textFormIsWhatIsRead(String text, String form) {
		assertThat(ResponseCondition.parse(text)).hasToString(form);
		assertThat(ResponseCondition.parse(form)).isEqualTo(ResponseCondition.parse(text));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "401", "status = 401", "status in []", "status in [401,]", "status in [600]",
			"status in [99]", "status in [4XX]", "status in [40x]", "status in (401)", "status in [401] or true",
			"not status in [401]" })
	void otherTextIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> ResponseCondition.parse(text))
			.withMessage("Invalid condition (%s): must be like 'status in [401, 403]' or 'status in [4xx, 500]'.",
					text);
	}

}
