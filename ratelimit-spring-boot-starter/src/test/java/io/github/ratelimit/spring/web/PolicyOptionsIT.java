package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.RateLimitPoliciesCustomizer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * To which requests a policy applies, what they cost, and what denied ones are answered;
 * also if a {@link PolicySource} changes it while requests are served.
 * {@link PathSpellingIT} shows that no spelling of a path gets around it.
 */
@StartApplication("""
		spring.mvc.hiddenmethod.filter.enabled: true
		ratelimit:
		  exclude: [/api/health, GET /api/logo]
		  rejection.status: 420
		  rejection.type: https://example.com/quota
		  deny: header:X-Denied:yes
		  policies:
		    api: { paths: /api/**, limits: 1/m, exclude: /api/open/** }
		    all: { paths: /api/**, limits: 100/m }
		    user: { routes: [{ paths: GET /user/**, cost: 1 }, { paths: POST /user/**, cost: 2 }], limits: 4/m }
		    spelt: { routes: [{ paths: /spelt/item, cost: 5 }, { paths: /*/spelt/* }], limits: 9/m }
		    web: { paths: /web, limits: 1/m, when: "'web'.equals(#request.getHeader('X-Channel'))",
		      unless: "'yes'.equals(#request.getHeader('X-Probe'))" }
		    odd: { paths: /odd, limits: 1/m, when: "#request.getHeader('X-Odd').length() > 3" }
		    none: { paths: /none, limits: 1/m, when: "#request.getHeader('X-None')?.isBlank()" }
		    keyed: { paths: /keyed, limits: 2/m, identifiers: header:X-Key, missing-identifier: deny }
		    keyed-method: { limits: 2/m, identifiers: header:X-Key, mode: shadow, missing-identifier: deny }
		    method: { limits: 1/m, unless: "'yes'.equals(#request.getHeader('X-Probe'))" }
		    idle: { enabled: false, paths: /off, limits: 0/m, concurrent: 1, identifiers: tenant, missing-identifier: deny }
		""")
class PolicyOptionsIT extends WithApplication {

	private static final AtomicInteger asked = new AtomicInteger();

	private static final AtomicInteger identified = new AtomicInteger();

	private static final PolicySource NOTHING = (policy, caller) -> policy;

	private static volatile PolicySource change = NOTHING;

	@BeforeEach
	void forget() {
		change = NOTHING;
		asked.set(0);
		identified.set(0);
	}

	/** All paths of a policy share its count. */
	@Test
	void deniedRequestHasStatusAndTypeOfProperties() {
		this.application.get("/api/x");
		HttpResponse<String> denied = get(420, "/api/y");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		assertThat(denied.body()).startsWith("{\"type\":\"https://example.com/quota\",")
			.contains("\"status\":420,\"violated-policies\":[\"api\"]");
	}

	@Test
	void pathThatAllExcludeIsNotCounted() {
		assertThat(this.application.get("/api/health").headers().map()).doesNotContainKey("ratelimit");
		assertThat(this.application.get("/api/logo").headers().map()).doesNotContainKey("ratelimit");
		assertThat(this.application.decisions()).isZero();
		this.application.send("POST", "/api/logo");
		assertThat(this.application.decisions()).isOne();
	}

	@Test
	void pathThatPolicyExcludesCountsForOthers() {
		assertThat(this.application.get("/api/open/book").headers().firstValue("RateLimit-Policy"))
			.hasValueSatisfying((header) -> assertThat(header).contains("\"all\"").doesNotContain("\"api\""));
	}

	/** A filter that comes early says which method a request has. */
	@ParameterizedTest
	@CsvSource({ "GET, /user/1, 3", "HEAD, /user/1, 3", "POST, /user/1, 2", "PUT, /user/1, ",
			"POST, /user/1?_method=PUT, ", "GET, /free, ", "GET, /free/api/x, ", "OPTIONS, /api/x, 0" })
	void methodAndPathHaveCostOfTheirRoute(String method, String path, @Nullable String remaining) {
		HttpResponse<String> response = this.application.send(method, path);
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().firstValue("X-Rate-Limit-Remaining").orElse(null)).isEqualTo(remaining);
		assertThat(this.application.decisions()).isEqualTo((remaining != null) ? 1 : 0);
	}

	@ParameterizedTest
	@CsvSource({ "/spelt/item, 5", "/x/spelt/item, 1", "/./spelt/item, 5" })
	void requestPaysTheDearestRouteOfItsForms(String path, long cost) {
		this.application.get(path);
		this.application.assertUsed("spelt", cost);
	}

	/** The conditions of {@code code} are written in Java. */
	@ParameterizedTest
	@CsvSource({ "/web, X-Channel: web, true, ", "/web, X-Channel: app, false, ",
			"/web, X-Channel: web; X-Probe: yes, false, ", "/code, X-Channel: web, true, ",
			"/code, X-Probe: no, false, ", "/code, X-Channel: web; X-Probe: yes, false, ",
			"/code, X-Channel: s3cr3t, true, IllegalStateException", "/method, X-Probe: no, true, ",
			"/method, X-Probe: yes, false, ", "/odd, X-Odd: abc, false, ",
			"/odd, X-Other: s3cr3t, true, METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED",
			"/none, X-Other: s3cr3t, true, its value is null" })
	void policyAppliesIfConditionsAreMetOrFail(String path, String headers, boolean applies, @Nullable String failure,
			CapturedOutput output) {
		assertThat(this.application.statuses(2, path, headers.split("[:;] "))).containsExactly(200,
				applies ? 420 : 200);
		if (failure != null) {
			assertThat(output)
				.containsOnlyOnce("The condition ratelimit.policies.%s.when failed".formatted(path.substring(1)))
				.contains(failure)
				.doesNotContain("s3cr3t");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/off", "/off-method" })
	void policyThatIsOffNeitherCountsNorLooksForIdentifiers(String path) {
		assertThat(get(200, path).headers().map()).doesNotContainKey("ratelimit");
		assertThat(this.application.decisions()).isZero();
		assertThat(identified).hasValue(0);
		get(403, path, "X-Denied", "yes");
		change = (policy, caller) -> policy.withEnforcement(Enforcement.DEFAULT);
		get(420, path);
	}

	/** The policy of the path enforces, and that of the method is in shadow mode. */
	@ParameterizedTest
	@CsvSource({ "/keyed, ENFORCE, deny, 403 403 403", "/keyed, SHADOW, deny, 200 200 200",
			"/keyed, ENFORCE, skip, 200 200 200", "/keyed, ENFORCE, ip, 200 200 420",
			"/keyed-method, SHADOW, deny, 200 200 200", "/keyed-method, ENFORCE, deny, 403 403 403" })
	void changedModeAndRuleForMissingIdentifierCountAtOnce(String path, Mode mode, String missing, String statuses) {
		change = (policy, caller) -> withRule(policy, mode, MissingIdentifier.parse(missing));
		assertThat(this.application.statuses(3, path)).extracting(String::valueOf).containsExactly(statuses.split(" "));
	}

	private static IdentifiedPolicy withRule(IdentifiedPolicy policy, Mode mode, MissingIdentifier missing) {
		return policy.withEnforcement(new Enforcement(mode, OnStoreFailure.ALLOW, null, missing));
	}

	@Test
	void otherIdentifierForThoseWhoHaveNoneIsRefused(CapturedOutput output) {
		change = (policy, caller) -> withRule(policy, Mode.ENFORCE, new MissingIdentifier.Fallback("header:X-Other"));
		assertThat(this.application.get("/keyed").statusCode()).isEqualTo(403);
		assertThat(output).contains("The policy 'keyed' stays as configured")
			.contains("Invalid missing identifier (header:X-Other): must stay the same, or be skip, deny or ip.");
	}

	/** A source is asked once for each policy of a request. */
	@ParameterizedTest
	@CsvSource({ "/keyed, acme, 3", "/keyed, other, 1", "/keyed-method, acme, 3", "/keyed-method, other, 1" })
	void tenantHasItsOwnLimits(String path, String tenant, int quota) {
		change = (policy, caller) -> {
			Identifier who = caller.find("header:X-Tenant");
			long limit = (who != null && who.value().equals("acme")) ? 3 : 1;
			return withRule(policy.withLimits(List.of(new Limit(limit, Duration.ofMinutes(1)))), Mode.ENFORCE,
					MissingIdentifier.DENY);
		};
		for (int i = 0; i <= quota; i++) {
			assertThat(this.application.get(path, "X-Key", "a", "X-Tenant", tenant).statusCode())
				.isEqualTo((i < quota) ? 200 : 420);
			assertThat(asked).hasValue(i + 1);
		}
	}

	static class Application extends TestApplication.WithMethod {

		@GetMapping("/keyed-method")
		@RateLimited("keyed-method")
		String keyed() {
			return "served";
		}

		@GetMapping("/off-method")
		@RateLimited("idle")
		String off() {
			return "served";
		}

		@Bean
		IdentifierResolver tenant() {
			return (request) -> {
				identified.incrementAndGet();
				return null;
			};
		}

		@Bean
		PolicySource policySource() {
			return (policy, caller) -> {
				asked.incrementAndGet();
				return change.current(policy, caller);
			};
		}

		@Bean
		static RateLimitPoliciesCustomizer limits() {
			return (policies) -> policies.add("code")
				.paths("/code")
				.limits("1/m")
				.when((request) -> isOfWeb(request.getHeader("X-Channel")))
				.unless((request) -> "yes".equals(request.getHeader("X-Probe")));
		}

		private static boolean isOfWeb(String channel) {
			if ("s3cr3t".equals(channel)) {
				throw new IllegalStateException(channel);
			}
			return "web".equals(channel);
		}

	}

}
