package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.ratelimit.spring.actuate.RateLimitsEndpoint;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies with plans beside a login: what never comes through the login counts by the
 * limits of the policy itself, and everything else as the plan says.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit:
		  plan-cache-ttl: 0
		  policies:
		    login: { paths: [/form, /basic, /bearer, /own], limits: 5/15m, identifiers: [ip, user],
		      count-when: 'status in [401]', plans.pro.limits: 1000/m,
		      unless: "'yes'.equals(#request.getHeader('X-Plain'))" }
		    plain: { paths: [/form, /basic, /bearer, /own], limits: 5/15m,
		      when: "'yes'.equals(#request.getHeader('X-Plain'))", identifiers: [ip, user],
		      count-when: 'status in [401]' }
		    tariff: { paths: [/tariff, /twice], limits: 2/m, plans.pro.limits: [4/m, 100/h],
		      plans.partner.unlimited: true }
		    second: { paths: /twice, limits: 9/m, plans.pro.limits: 90/m }
		    named: { paths: /named, limits: 1/m, identifiers: user }
		    held: { paths: /held/**, limits: 1/15m, count-when: 'status in [401]' }
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

	/** Without plans, what a right login has used is given back after its response. */
	@ParameterizedTest
	@CsvSource({ "/form, login", "/basic, login", "/bearer, login", "/own, login", "/form, plain", "/basic, plain",
			"/bearer, plain", "/own, plain" })
	void fiveOfEightWrongLoginsAreAnsweredAndRightOnesAreFree(String path, String policy) {
		String[] plain = { "X-Plain", policy.equals("plain") ? "yes" : "no" };
		for (int failed = 0; failed < 8; failed++) {
			for (String user : List.of("anna", "berta")) {
				assertThat(logIn(path, user, "secret", plain).statusCode()).isEqualTo((failed < 5) ? 200 : 429);
				this.application.assertUsed("plain", policy.equals("plain") ? Math.min(failed, 5) : 0);
			}
			assertThat(logIn(path, "anna", "wrong", plain).statusCode()).isEqualTo((failed < 5) ? 401 : 429);
		}
		HttpResponse<String> denied = logIn(path, "anna", "wrong", plain);
		assertThat(denied.body()).contains("\"violated-policies\":[\"" + policy + "\"]");
		assertThat(denied.headers().allValues("RateLimit-Policy")).containsExactly("\"" + policy + "\";q=5;w=900");
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
	void wrongLoginsCountApartUnderTheNameOfThePolicy() {
		for (int i = 0; i < 2; i++) {
			HttpResponse<String> refused = logIn("/tariff", "anna", "wrong");
			assertThat(refused.statusCode()).isEqualTo(401);
			assertThat(refused.headers().allValues("RateLimit")).singleElement()
				.asString()
				.startsWith("\"tariff\";r=" + (1 - i));
		}
		assertThat(logIn("/tariff", "anna", "wrong").statusCode()).isEqualTo(429);
		assertThat(logIn("/tariff", "anna", "secret").statusCode()).isEqualTo(429);
		this.application.assertUsed("tariff", 0);
		assertThat(LoginApplication.told).containsExactly("tariff tariff ALLOWED", "tariff tariff ALLOWED",
				"tariff tariff DENIED", "tariff tariff DENIED");
	}

	@Test
	void endpointShowsAndResetsWrongLoginsAsWell() {
		logIn("/tariff", "anna", "wrong");
		logIn("/tariff", "anna", "wrong");
		assertThat(logIn("/tariff", "anna", "secret").statusCode()).isEqualTo(429);
		RateLimitsEndpoint endpoint = this.application.bean(RateLimitsEndpoint.class);
		assertThat(counts(endpoint)).contains("tariff (before login)");
		endpoint.delete("counts", "ip:127.0.0.1", "tariff");
		assertThat(counts(endpoint)).doesNotContain("before login");
		assertThat(logIn("/tariff", "anna", "secret").statusCode()).isEqualTo(200);
	}

	private static String counts(RateLimitsEndpoint endpoint) {
		return JsonMapper.shared()
			.writeValueAsString(endpoint.read("counts", "ip:127.0.0.1", "tariff", null, null).getBody());
	}

	@Test
	void allPoliciesAreRefundedInOneCall() {
		assertThat(logIn("/twice", "anna", "secret").statusCode()).isEqualTo(200);
		assertThat(this.application.decisions()).isEqualTo(2);
		assertThat(LoginApplication.refunds).hasValue(1);
	}

	@ParameterizedTest
	@CsvSource({ "anna, 3", "berta, 1" })
	void sourceOfPoliciesKnowsTheUserAfterTheLogin(String user, int quota) {
		for (int i = 0; i <= quota; i++) {
			assertThat(logIn("/named", user, "secret").statusCode()).isEqualTo((i < quota) ? 200 : 429);
		}
	}

	@Test
	void requestDeniedByReservationGetsShortRetryAfter() throws Exception {
		CompletableFuture<HttpResponse<String>> first = CompletableFuture
			.supplyAsync(() -> logIn("/held/200", "anna", "secret"));
		LoginApplication.arrived.acquire();
		HttpResponse<String> denied = logIn("/held/200", "berta", "secret");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("1");
		assertThat(denied.headers().allValues("RateLimit")).containsExactly("\"held\";r=0;t=1");
		LoginApplication.mayGoOn.release();
		assertThat(first.join().statusCode()).isEqualTo(200);
		this.application.assertUsed("held", 0);
		LoginApplication.mayGoOn.release();
		assertThat(logIn("/held/401", "berta", "secret").statusCode()).isEqualTo(401);
		LoginApplication.arrived.acquire();
		HttpResponse<String> used = logIn("/held/200", "berta", "secret");
		assertThat(used.headers().allValues("Retry-After")).containsExactly("900");
		assertThat(used.headers().allValues("RateLimit")).containsExactly("\"held\";r=0;t=900");
	}

	private HttpResponse<String> logIn(String path, String user, String password, String... headers) {
		if (path.equals("/form")) {
			return this.application.send("POST", "/form?username=" + user + "&password=" + password, headers);
		}
		List<String> all = new ArrayList<>(List.of(headers));
		all.addAll(switch (path) {
			case "/bearer" -> List.of("Authorization", "Bearer " + LoginApplication.jwt(user, password));
			case "/own" -> List.of("X-Key", user + ":" + password);
			default -> List.of("Authorization", TestUsers.basic(user + ":" + password));
		});
		return this.application.get(path, all.toArray(String[]::new));
	}

	@Import(LoginApplication.class)
	static class Application {

	}

}
