package io.github.ratelimit.spring.web;

import java.util.stream.Stream;

import io.github.ratelimit.spring.IdentifierResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
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

/**
 * The log tells of policies that count nothing, because nothing has their identifiers. Of
 * a property, {@code @} stands for the policy.
 */
@ExtendWith(OutputCaptureExtension.class)
class UncountedPolicyIT {

	private static final String TOLD = "The policy 'api' does not count requests that have none of its identifiers";

	private static final String UNTOLD = "The policy 'api' does not count what Spring Security or another filter answers with 401, because there is no user yet. ";

	/** What refuses a login answers before there is a user. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', nullValues = "-",
			textBlock = """
					user       | status in [401]      | Add ip to ratelimit.policies.api.identifiers
					user,bean  | status in [ 401 ]    | Add ip to ratelimit.policies.api.identifiers
					ip,user    | status in [401]      | -
					user       | status in [401, 403] | -
					header:X   | status in [401]      | -
					ip         | status in [401]; @.plans.pro.limits=9/m; ratelimit.plan='pro' | Count that by a second policy, which has no plans
					""")
	void startTellsOfPolicyThatCountsNoFailedLogins(String identifiers, String countWhen, @Nullable String told,
			CapturedOutput output) {
		start(WithLogin.class,
				("@.paths=/api; @.identifiers=" + identifiers + "; @.count-when=" + countWhen).split("; "))
			.close();
		if (told != null) {
			assertThat(output).contains(UNTOLD + told);
		}
		else {
			assertThat(output).doesNotContain(UNTOLD);
		}
	}

	@ParameterizedTest
	@EnumSource
	void policyIsLoggedOnceWhenFirstRequestHasNoIdentifier(Container container, CapturedOutput output) {
		try (TestApplication application = start(container, WithLogin.class, "@.paths=/api",
				"@.identifiers=user,header:X-Api-Key", "@.missing-identifier=skip")) {
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
		try (TestApplication application = start(WithLogin.class, "@.paths=/api", "@.identifiers=" + identifiers,
				"@.missing-identifier=skip")) {
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
			assertThat(application.get("/api").statusCode()).isEqualTo(200);
		}
		assertThat(output).doesNotContain(TOLD);
	}

	@Test
	void policyIsLoggedWhenFilterWithUserRunsTooLate(CapturedOutput output) {
		try (TestApplication application = start(WithLogin.class, "@.paths=/api", "@.identifiers=user",
				"@.missing-identifier=skip", "test.order=0")) {
			assertThat(application.get("/api", "X-User", "anna").statusCode()).isEqualTo(200);
		}
		assertThat(output).contains(TOLD).contains("set it in a filter before those of the limiter");
	}

	private static TestApplication start(Class<?> configuration, String... properties) {
		return start(Container.TOMCAT, configuration, properties);
	}

	private static TestApplication start(Container container, Class<?> configuration, String... properties) {
		return TestApplication.start(container, configuration,
				Stream.concat(Stream.of("@.limits=3/m"), Stream.of(properties))
					.map((property) -> property.replace("@", "ratelimit.policies.api"))
					.toArray(String[]::new));
	}

	static class OwnIdentifiers extends TestApplication.Served {

		@Bean
		IdentifierResolver bean() {
			return new IdentifierResolver() {

				@Override
				public @Nullable String resolve(HttpServletRequest request) {
					return request.getRemoteUser();
				}

				@Override
				public boolean needsUser() {
					return true;
				}

			};
		}

	}

	static class WithLogin extends OwnIdentifiers {

		@Bean
		FilterRegistrationBean<HeaderLogin> login(@Value("${test.order:-200}") int order) {
			return HeaderLogin.at(order);
		}

	}

}
