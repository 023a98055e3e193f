package io.github.ratelimit.spring.web;

import java.util.stream.Stream;

import io.github.ratelimit.spring.IdentifierResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;

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
		start(("@.paths=/api; @.identifiers=" + identifiers + "; @.count-when=" + countWhen).split("; ")).close();
		assertThat(output.toString().contains(UNTOLD)).isEqualTo(told != null);
		assertThat(output).contains((told != null) ? UNTOLD + told : "");
	}

	/** With the order 0, the user is set too late. */
	@ParameterizedTest
	@CsvSource({ "'user,header:X-Api-Key', -200, X-Api-Key, '', 1", "'user,header:X-Api-Key', -200, X-User, anna, 0",
			"user, -200, X-User, anna, 0", "user, 0, X-User, anna, 1" })
	void policyIsLoggedOnceWhenFirstRequestHasNoIdentifier(String identifiers, int order, String header, String value,
			int told, CapturedOutput output) {
		try (TestApplication application = start("@.paths=/api", "@.identifiers=" + identifiers,
				"@.missing-identifier=skip", "test.order=" + order)) {
			assertThat(output).doesNotContain(TOLD);
			assertThat(application.get("/api", header, value).statusCode()).isEqualTo(200);
			assertThat(application.statuses(2, "/api")).containsOnly(200);
		}
		assertThat(output.toString().lines().filter((line) -> line.contains(TOLD))).hasSize(told)
			.allSatisfy((line) -> assertThat(line).contains(identifiers.replace(",", ", "),
					"set ratelimit.policies.api.missing-identifier to ip or global",
					"set it in a filter before those of the limiter"));
	}

	private static TestApplication start(String... properties) {
		return TestApplication.start(Application.class,
				Stream.concat(Stream.of("@.limits=3/m"), Stream.of(properties))
					.map((property) -> property.replace("@", "ratelimit.policies.api"))
					.toArray(String[]::new));
	}

	static class Application extends TestApplication.Served {

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

		@Bean
		FilterRegistrationBean<HeaderLogin> login(@Value("${test.order:-200}") int order) {
			return HeaderLogin.at(order);
		}

	}

}
