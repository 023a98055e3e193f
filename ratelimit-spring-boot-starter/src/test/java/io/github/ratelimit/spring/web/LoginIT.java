package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

import io.github.ratelimit.Identifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Policies beside a login: those with plans count who comes through it, and a second
 * policy counts who does not. Policies that count denied requests keep whoever goes on
 * trying denied.
 */
@StartApplication(application = LoginApplication.class, value = """
		ratelimit:
		  plan-cache-ttl: 0
		  ip.trusted-proxies: 127.0.0.1
		  policies:
		    login: { paths: [/form, /basic, /own], limits: 5/15m, identifiers: [ip, user],
		      count-when: 'status in [401]' }
		    guarded: { paths: /guarded, limits: 2/m, plans.pro.limits: 4/m }
		    guesses: { paths: /guarded, limits: 2/m, count-when: 'status in [401]' }
		    tariff: { paths: [/tariff, /twice], limits: 2/m, plans.pro.limits: [4/m, 100/h],
		      plans.partner.unlimited: true }
		    second: { paths: /twice, limits: 9/m, plans.pro.limits: 90/m }
		    named: { paths: /named, limits: 1/m, identifiers: user }
		    only: { paths: /only, limits: 0/m, plans.pro.limits: 2/m }
		    hammered: { paths: /hammered, limits: 2/m, identifiers: [ip, user], count-denied: true,
		      algorithm: sliding-log }
		    failed: { paths: /failed, limits: 2/m, identifiers: [ip, user], count-denied: true,
		      count-when: 'status in [401]', algorithm: sliding-log }
		# In all other tests it is where Spring Boot puts it.
		spring.security.filter.order: 0
		""")
class LoginIT {

	@Parameter
	TestApplication application;

	/** What a right login has used is given back after its response. */
	@ParameterizedTest
	@ValueSource(strings = { "/form", "/basic", "/own" })
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

	/**
	 * Whoever comes through is limited by the plan; wrong logins count by another policy.
	 */
	@ParameterizedTest
	@CsvSource({ "/tariff, anna, secret, 200 200 200 200 429", "/tariff, berta, secret, 200 200 429",
			"/tariff, clara, secret, 200 200 200 200 200", "/tariff, anna, wrong, 401 401 401 401 401",
			"/only, anna, secret, 200 200 429", "/only, berta, secret, 429", "/named, anna, secret, 200 200 200 429",
			"/named, berta, secret, 200 429", "/guarded, anna, wrong, 401 401 429" })
	void userHasLimitsOfThePlan(String path, String user, String password, String statuses) {
		for (String status : statuses.split(" ")) {
			assertThat(logIn(path, user, password).statusCode()).asString().isEqualTo(status);
		}
		this.application.assertUsed("guarded", 0);
	}

	@Test
	void headersAreThoseOfThePlan() {
		assertThat(logIn("/tariff", "anna", "secret").headers().allValues("RateLimit-Policy"))
			.containsExactly("\"tariff/m\";q=4;w=60, \"tariff/h\";q=100;w=3600");
		for (String password : List.of("secret", "wrong")) {
			assertThat(logIn("/tariff", "clara", password).headers().map()).doesNotContainKeys("RateLimit",
					"RateLimit-Policy", "X-Rate-Limit-Limit");
		}
		assertThat(logIn("/guarded", "berta", "wrong").headers().firstValue("RateLimit").orElseThrow())
			.startsWith("\"guesses\";r=1;");
	}

	@Test
	void allPoliciesWithPlansAreDecidedInOneCall() {
		logIn("/twice", "anna", "wrong");
		assertThat(this.application.decisions()).isZero();
		assertThat(logIn("/twice", "anna", "secret").statusCode()).isEqualTo(200);
		assertThat(this.application.decisions()).isOne();
		assertThat(this.application.settlements("tariff")).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/hammered", "/failed" })
	void deniedLoginsCountByTheAddress(String path) {
		for (String waitAndStatus : "0:401 0:401 40:429 0:429 0:429 30:429".split(" ")) {
			this.application.advance(Duration.ofSeconds(Integer.parseInt(waitAndStatus.split(":")[0])));
			assertThat(waitAndStatus).endsWith(":" + get(path, "anna:wrong", 1));
		}
		assertThat(get(path, "anna:secret", 1)).isEqualTo(429);
		assertThat(get(path, "anna:secret", 2)).isEqualTo(200);
		this.application.advance(Duration.ofMinutes(1));
		assertThat(get(path, "anna:secret", 1)).isEqualTo(200);
	}

	@Test
	void onlyWhatWasAllowedIsGivenBack() {
		get("/failed", "anna:secret", 1);
		assertUsed("failed", 1, 0);
		get("/failed", "anna:wrong", 1);
		get("/failed", "anna:wrong", 1);
		this.application.advance(Duration.ofSeconds(40));
		assertThat(get("/failed", "anna:secret", 1)).isEqualTo(429);
		this.application.advance(Duration.ofSeconds(30));
		assertUsed("failed", 1, 1);
	}

	private void assertUsed(String policy, int address, long used) {
		this.application.assertUsed(policy, address(address), used);
		this.application.assertUsed(policy, Identifier.user("anna"), 0);
	}

	@Test
	void deniedRequestsCountForUserAndAddressesOnce() {
		assertThat(get("/hammered", "anna:secret", 1)).isEqualTo(200);
		assertThat(get("/hammered", "anna:secret", 2)).isEqualTo(200);
		this.application.advance(Duration.ofSeconds(40));
		assertThat(get("/hammered", "anna:secret", 3)).isEqualTo(429);
		assertThat(get("/hammered", "anna:secret", 4)).isEqualTo(429);
		this.application.assertUsed("hammered", address(3), 1);
		this.application.advance(Duration.ofSeconds(30));
		assertThat(get("/hammered", "anna:secret", 5)).isEqualTo(429);
		assertThat(get("/hammered", "berta:secret", 3)).isEqualTo(200);
	}

	private int get(String path, String login, int address) {
		return this.application.getAs(login, path, "X-Forwarded-For", address(address).value()).statusCode();
	}

	private static Identifier address(int last) {
		return Identifier.ip("203.0.113." + last);
	}

	private HttpResponse<String> logIn(String path, String user, String password) {
		return switch (path) {
			case "/form" -> this.application.send("POST", "/form?username=" + user + "&password=" + password);
			case "/own" -> this.application.get(path, "X-Key", user + ":" + password);
			default -> this.application.getAs(user + ":" + password, path);
		};
	}

}
