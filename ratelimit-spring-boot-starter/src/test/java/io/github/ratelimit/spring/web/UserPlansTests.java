package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.spring.PlanResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link UserPlans} and the expressions of {@link PlanResolver}.
 */
@ExtendWith(OutputCaptureExtension.class)
class UserPlansTests {

	private final Map<String, String> plans = new HashMap<>(Map.of("anna", "pro"));

	private final List<String> asked = new ArrayList<>();

	private boolean failing;

	private long nanos;

	@Test
	void planOfUserIsKeptForTheTimeToLive() {
		UserPlans kept = plans(Duration.ofMinutes(1));
		assertThat(kept.find(request("anna"))).isEqualTo("pro");
		this.plans.put("anna", "free");
		this.nanos += Duration.ofSeconds(59).toNanos();
		assertThat(kept.find(request("anna"))).isEqualTo("pro");
		this.nanos += Duration.ofSeconds(1).toNanos();
		assertThat(kept.find(request("anna"))).isEqualTo("free");
		assertThat(this.asked).containsExactly("anna", "anna");
	}

	@Test
	void thatUserHasNoPlanIsKeptAsWell() {
		UserPlans kept = plans(Duration.ofMinutes(1));
		this.plans.put("berta", "");
		for (int i = 0; i < 2; i++) {
			assertThat(kept.find(request("berta"))).isNull();
			assertThat(kept.find(request("carla"))).isNull();
		}
		assertThat(this.asked).containsExactly("berta", "carla");
	}

	@Test
	void planIsKeptForTheRequestOnlyWhenTimeToLiveIsZero() {
		UserPlans plans = plans(Duration.ZERO);
		MockHttpServletRequest request = request("anna");
		assertThat(plans.find(request)).isEqualTo("pro");
		this.plans.put("anna", "free");
		assertThat(plans.find(request)).isEqualTo("pro");
		assertThat(plans.find(request("anna"))).isEqualTo("free");
	}

	@Test
	void planOfRequestIsThatOfItsUser() {
		UserPlans plans = plans(Duration.ZERO);
		MockHttpServletRequest request = request("anna");
		assertThat(plans.find(request)).isEqualTo("pro");
		request.setUserPrincipal(() -> "berta");
		assertThat(plans.find(request)).isNull();
	}

	@Test
	void resolverIsNotCalledWithoutUser() {
		UserPlans plans = plans(Duration.ofMinutes(1));
		assertThat(plans.find(new MockHttpServletRequest())).isNull();
		MockHttpServletRequest nameless = new MockHttpServletRequest();
		nameless.setUserPrincipal(() -> null);
		assertThat(plans.find(nameless)).isNull();
		assertThat(this.asked).isEmpty();
	}

	@Test
	void failureIsReportedOncePerChangeAndNotKept(CapturedOutput output) {
		UserPlans plans = plans(Duration.ofMinutes(1));
		this.failing = true;
		assertThat(plans.find(request("anna"))).isNull();
		assertThat(plans.find(request("berta"))).isNull();
		assertThat(StringUtils.countOccurrencesOf(output.toString(), "The plans of users are not known")).isEqualTo(1);
		this.failing = false;
		this.nanos += Duration.ofSeconds(60).toNanos();
		assertThat(plans.find(request("anna"))).isEqualTo("pro");
		assertThat(plans.find(request("berta"))).isNull();
		assertThat(StringUtils.countOccurrencesOf(output.toString(), "The plans of users are known again"))
			.isEqualTo(1);
		this.failing = true;
		assertThat(plans.find(request("anna"))).isEqualTo("pro");
		assertThat(plans.find(request("carla"))).isNull();
		assertThat(StringUtils.countOccurrencesOf(output.toString(), "The plans of users are not known")).isEqualTo(2);
	}

	@Test
	void failureIsNotKept() {
		UserPlans plans = plans(Duration.ofMinutes(1));
		this.failing = true;
		assertThat(plans.find(request("anna"))).isNull();
		this.failing = false;
		assertThat(plans.find(request("anna"))).isEqualTo("pro");
	}

	@Test
	void failuresThatComeAndGoAreReportedOnce(CapturedOutput output) {
		UserPlans plans = plans(Duration.ZERO);
		for (int i = 0; i < 5; i++) {
			this.failing = true;
			plans.find(request("mallory"));
			this.failing = false;
			plans.find(request("anna"));
			this.nanos += Duration.ofSeconds(59).toNanos();
		}
		assertThat(output.toString().lines().filter((line) -> line.contains("The plans of users"))).singleElement()
			.asString()
			.contains("The plans of users are not known")
			.contains("java.lang.IllegalStateException");
	}

	@Test
	void userIsNotNamedInTheLog(CapturedOutput output) {
		this.failing = true;
		plans(Duration.ZERO).find(request("mallory"));
		assertThat(output).contains("The plans of users are not known").doesNotContain("mallory");
	}

	@ParameterizedTest
	@CsvSource(commentCharacter = '~', delimiter = '|', quoteCharacter = '"', textBlock = """
			#principal?.claims['plan']                | gold
			#principal.claims.containsKey('x')        | false
			#principal.claims['x']                    |
			#request.getHeader('X-Plan')              | silver
			#request.userPrincipal.name               | anna
			'fixed'                                   | fixed
			""")
	void expressionKnowsThePrincipalOfTheAuthenticationAndTheRequest(String expression, String plan) {
		Token token = new Token(Map.of("plan", "gold"));
		MockHttpServletRequest request = request("anna");
		request.addHeader("X-Plan", "silver");
		TestingAuthenticationToken authentication = new TestingAuthenticationToken(token, null) {

			@Override
			public String getName() {
				return "anna";
			}

		};
		request.setUserPrincipal(authentication);
		assertThat(PlanReader.resolver(RequestVariables.parse(expression)).resolve(authentication, request))
			.isEqualTo(plan);
	}

	@Test
	void principalIsTheUserWithoutSpringSecurity() {
		Principal user = () -> "anna";
		assertThat(PlanReader.resolver(RequestVariables.parse("#principal.name")).resolve(user, request("anna")))
			.isEqualTo("anna");
	}

	@ParameterizedTest
	@CsvSource(commentCharacter = '~', delimiter = '|', quoteCharacter = '"',
			textBlock = """
					#principal.                               | Invalid expression (#principal.): EL1
					"  "                                      | is empty; in YAML, # begins a comment
					#princpal.name                            | #princpal is not allowed; it may only read properties and methods of the variables #principal and #request
					T(java.lang.Runtime).runtime              | T(java.lang.Runtime) is not allowed
					new java.lang.String('pro')               | is not allowed
					@plans.of(#principal)                     | @plans is not allowed
					#principal.name = 'root'                  | is not allowed
					#plan()                                   | is not allowed
					""")
	void expressionIsRejectedWhenItCanNeverBeEvaluated(String expression, String rule) {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> PlanReader.resolver(RequestVariables.parse(expression)))
			.withMessageStartingWith("Invalid expression (" + expression + "): ")
			.withMessageContaining(rule);
	}

	@Test
	void missingResolverIsLoggedOnce(CapturedOutput output) {
		UserPlans none = UserPlans.none();
		assertThat(none.find(request("anna"))).isNull();
		assertThat(none.find(request("berta"))).isNull();
		assertThat(output).containsOnlyOnce("set ratelimit.plan, or provide a PlanResolver bean");
	}

	private UserPlans plans(Duration ttl) {
		return new UserPlans(this::resolve, ttl, () -> this.nanos);
	}

	private String resolve(Principal user, HttpServletRequest request) {
		this.asked.add(user.getName());
		if (this.failing) {
			throw new IllegalStateException("no answer for " + user.getName());
		}
		return this.plans.get(user.getName());
	}

	private static MockHttpServletRequest request(String user) {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.setUserPrincipal(() -> user);
		return request;
	}

	public record Token(Map<String, Object> claims) {

		public Map<String, Object> getClaims() {
			return this.claims;
		}

	}

}
