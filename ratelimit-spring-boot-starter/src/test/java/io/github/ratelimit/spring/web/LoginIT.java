package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies beside a login: those with plans count who comes through it, and a second
 * policy counts who does not.
 */
@StartApplication(application = LoginApplication.class, value = """
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    login: { paths: [/form, /basic, /bearer, /own], limits: 5/15m, identifiers: [ip, user],
		      count-when: 'status in [401]' }
		    guarded: { paths: /guarded, limits: 2/m, plans.pro.limits: 4/m }
		    guesses: { paths: /guarded, limits: 2/m, count-when: 'status in [401]' }
		    tariff: { paths: [/tariff, /twice], limits: 2/m, plans.pro.limits: [4/m, 100/h],
		      plans.partner.unlimited: true }
		    second: { paths: /twice, limits: 9/m, plans.pro.limits: 90/m }
		    named: { paths: /named, limits: 1/m, identifiers: user }
		    only: { paths: /only, limits: 0/m, plans.pro.limits: 2/m }
		management.endpoints.web.exposure.include: ratelimits
		management.endpoint.ratelimits.access: unrestricted
		""")
class LoginIT {

	@Parameter
	TestApplication application;

	@BeforeEach
	void forget() {
		LoginApplication.told.clear();
		LoginApplication.refunds.set(0);
	}

	/** What a right login has used is given back after its response. */
	@ParameterizedTest
	@ValueSource(strings = { "/form", "/basic", "/bearer", "/own" })
	void wrongLoginsAreLimitedAndRightOnesAreFree(String path) {
		for (int failed = 0; failed < 8; failed++) {
			for (String user : List.of("anna", "berta")) {
				assertThat(logIn(path, user, "secret").statusCode()).isEqualTo((failed < 5) ? 200 : 429);
				this.application.assertUsed("login", Math.min(failed, 5));
			}
			assertThat(logIn(path, "anna", "wrong").statusCode()).isEqualTo((failed < 5) ? 401 : 429);
		}
		HttpResponse<String> denied = logIn(path, "anna", "wrong");
		assertThat(denied.body()).contains("\"violated-policies\":[\"login\"]");
		assertThat(denied.headers().allValues("RateLimit-Policy")).containsExactly("\"login\";q=5;w=900");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("900");
	}

	@Test
	void whoComesThroughHasThePlanAndNothingElse() {
		for (int i = 0; i < 4; i++) {
			HttpResponse<String> served = logIn("/tariff", "anna", "secret");
			assertThat(served.statusCode()).isEqualTo(200);
			assertThat(served.headers().allValues("RateLimit-Policy"))
				.containsExactly("\"tariff/m\";q=4;w=60, \"tariff/h\";q=100;w=3600");
		}
		assertThat(logIn("/tariff", "anna", "secret").statusCode()).isEqualTo(429);
	}

	@Test
	void policyThatIsClosedWithoutPlanIsOpenWithOne() {
		assertThat(logIn("/only", "anna", "secret").statusCode()).isEqualTo(200);
		assertThat(logIn("/only", "anna", "secret").statusCode()).isEqualTo(200);
		assertThat(logIn("/only", "anna", "secret").statusCode()).isEqualTo(429);
		assertThat(logIn("/only", "berta", "secret").statusCode()).isEqualTo(429);
	}

	@Test
	void unlimitedUserGetsNoLimitHeaders() {
		for (int i = 0; i < 9; i++) {
			HttpResponse<String> served = logIn("/tariff", "clara", "secret");
			assertThat(served.statusCode()).isEqualTo(200);
			assertThat(served.headers().map()).doesNotContainKeys("RateLimit", "RateLimit-Policy",
					"X-Rate-Limit-Limit");
		}
	}

	@Test
	void wrongLoginsCountByTheSecondPolicy() {
		assertThat(logIn("/guarded", "anna", "wrong").statusCode()).isEqualTo(401);
		assertThat(logIn("/guarded", "anna", "wrong").statusCode()).isEqualTo(401);
		HttpResponse<String> denied = logIn("/guarded", "anna", "wrong");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.body()).contains("\"violated-policies\":[\"guesses\"]");
		assertThat(logIn("/guarded", "anna", "secret").statusCode()).isEqualTo(429);
		this.application.assertUsed("guarded", 0);
	}

	@Test
	void policyWithPlansDoesNotCountWrongLogins() {
		for (int i = 0; i < 9; i++) {
			HttpResponse<String> refused = logIn("/tariff", "anna", "wrong");
			assertThat(refused.statusCode()).isEqualTo(401);
			assertThat(refused.headers().map()).doesNotContainKey("RateLimit");
		}
		assertThat(logIn("/tariff", "anna", "secret").statusCode()).isEqualTo(200);
		assertThat(LoginApplication.told).containsExactly("tariff tariff ALLOWED");
	}

	@Test
	void allPoliciesWithPlansAreDecidedInOneCall() {
		assertThat(logIn("/twice", "anna", "secret").statusCode()).isEqualTo(200);
		assertThat(this.application.decisions()).isEqualTo(1);
		assertThat(LoginApplication.refunds).hasValue(0);
	}

	@ParameterizedTest
	@CsvSource({ "anna, 3", "berta, 1" })
	void sourceOfPoliciesKnowsTheUserAfterTheLogin(String user, int quota) {
		for (int i = 0; i <= quota; i++) {
			assertThat(logIn("/named", user, "secret").statusCode()).isEqualTo((i < quota) ? 200 : 429);
		}
	}

	private HttpResponse<String> logIn(String path, String user, String password) {
		return switch (path) {
			case "/form" -> this.application.send("POST", "/form?username=" + user + "&password=" + password);
			case "/bearer" ->
				this.application.get(path, "Authorization", "Bearer " + LoginApplication.jwt(user, password));
			case "/own" -> this.application.get(path, "X-Key", user + ":" + password);
			default -> this.application.getAs(user + ":" + password, path);
		};
	}

}
