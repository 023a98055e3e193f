package io.github.ratelimit.spring;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who is charged for a call outside of a request.
 */
class PolicyEnforcerTests {

	@AfterEach
	void forgetUser() {
		SecurityContextHolder.clearContext();
	}

	@Test
	void everybodyIsChargedTogetherWhenNoIdentifierIsKnown() {
		assertThat(identifiers(Map.of(), "ip", "user", "header:X", "#id", "ip+#id")).containsExactly(Identifier.GLOBAL);
	}

	@Test
	void valuesOfExpressionsAreChargedAlone() {
		assertThat(identifiers(Map.of("#id", "7"), "ip", "#id", "ip+#id", "#other"))
			.containsExactly(Identifier.of("#id", "7"));
	}

	@Test
	void combinationIsChargedWhenAllOfItIsKnown() {
		logIn("alice");
		assertThat(identifiers(Map.of("#a", "1", "#b", "2"), "user+#a", "#a+#b", "user+global", "user+ip"))
			.containsExactly(Identifier.combine(List.of(Identifier.user("alice"), Identifier.of("#a", "1"))),
					Identifier.combine(List.of(Identifier.of("#a", "1"), Identifier.of("#b", "2"))),
					Identifier.combine(List.of(Identifier.user("alice"), Identifier.GLOBAL)));
	}

	@Test
	void userOfThreadIsCharged() {
		logIn("alice");
		assertThat(identifiers(Map.of(), "ip", "user")).containsExactly(Identifier.user("alice"));
	}

	@Test
	void nobodyIsUserWhenThreadIsAnonymousOrNotAuthenticated() {
		SecurityContextHolder.getContext()
			.setAuthentication(new AnonymousAuthenticationToken("key", "anonymousUser",
					AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS")));
		assertThat(identifiers(Map.of(), "user")).containsExactly(Identifier.GLOBAL);
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("alice", "secret"));
		assertThat(identifiers(Map.of(), "user")).containsExactly(Identifier.GLOBAL);
	}

	private static void logIn(String name) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken(name, "secret", "USER"));
	}

	private static List<Identifier> identifiers(Map<String, String> values, String... names) {
		IdentifiedPolicy policy = new IdentifiedPolicy(Policy.of("api", new SlidingLog(), Limit.parse("1/s")),
				List.of(names));
		return PolicyEnforcer.withoutRequest(new PolicyUse(policy, 1, values)).charge().identifiers();
	}

}
