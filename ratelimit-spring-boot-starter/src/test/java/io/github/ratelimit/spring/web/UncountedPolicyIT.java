package io.github.ratelimit.spring.web;

import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Policies that count nothing, because nothing has their identifiers: the start stops, or
 * the log says so.
 */
@ExtendWith(OutputCaptureExtension.class)
class UncountedPolicyIT {

	private static final String TOLD = "The policy 'api' does not count requests that have none of its identifiers";

	@ParameterizedTest
	@EnumSource
	void startFailsWhenPolicyCountsUsersWithoutLogin(Container container, CapturedOutput output) {
		for (String identifiers : new String[] { "user", "user,ip+user" }) {
			assertThatException().isThrownBy(() -> start(container, TestApplication.Served.class,
					"identifiers=" + identifiers, "missing-identifier=skip")
				.close());
			assertThat(output)
				.contains("Invalid value 'skip' for configuration property 'ratelimit.policies.api.missing-identifier'")
				.contains("Nothing would be counted: the policy is by [" + identifiers.replace(",", ", ")
						+ "], but there is neither Spring Security nor a filter of the application");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			user    | ip
			user    | deny
			ip,user | skip
			cookie:a | skip
			""")
	void applicationStartsWhenSomethingMayCount(String identifiers, String missing) {
		start(TestApplication.Served.class, "identifiers=" + identifiers,
				missing.equals("ip") ? "mode=enforce" : "missing-identifier=" + missing)
			.close();
	}

	@ParameterizedTest
	@EnumSource
	void policyIsLoggedOnceWhenFirstRequestHasNoIdentifier(Container container, CapturedOutput output) {
		try (TestApplication application = start(container, OwnLogin.class, "identifiers=user,header:X-Api-Key",
				"missing-identifier=skip")) {
			assertThat(output).doesNotContain(TOLD);
			for (int i = 0; i < 3; i++) {
				assertThat(application.get("/api", "X-Api-Key", "").statusCode()).isEqualTo(200);
			}
		}
		assertThat(StringUtils.countOccurrencesOf(output.toString(), TOLD)).isOne();
		assertThat(output).contains("[user, header:X-Api-Key]")
			.contains("set ratelimit.policies.api.missing-identifier to ip or global");
	}

	@ParameterizedTest
	@ValueSource(strings = { "user,header:X-Api-Key", "user" })
	void policyIsNotLoggedWhenFirstRequestIsCounted(String identifiers, CapturedOutput output) {
		try (TestApplication application = start(OwnLogin.class, "identifiers=" + identifiers,
				"missing-identifier=skip")) {
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
		}
		assertThat(output).doesNotContain(TOLD);
	}

	@Test
	void policyIsLoggedWhenFilterWithUserRunsTooLate(CapturedOutput output) {
		try (TestApplication application = start(OwnLogin.class, "identifiers=user", "missing-identifier=skip",
				"test.order=0")) {
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
		}
		assertThat(output).contains(TOLD).contains("set it in a filter before those of the limiter");
	}

	private static TestApplication start(Class<?> configuration, String... properties) {
		return start(Container.TOMCAT, configuration, properties);
	}

	private static TestApplication start(Container container, Class<?> configuration, String... properties) {
		return TestApplication.start(container, configuration,
				Stream.concat(Stream.of("paths=/api", "limits=3/m"), Stream.of(properties))
					.map((property) -> property.matches("(ratelimit|test)\\..*") ? property
							: "ratelimit.policies.api." + property)
					.toArray(String[]::new));
	}

	static class OwnLogin extends TestApplication.Served {

		@Bean
		FilterRegistrationBean<HeaderLogin> login(@Value("${test.order:-200}") int order) {
			return HeaderLogin.at(order);
		}

	}

}
