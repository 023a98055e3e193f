package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.PolicyUse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link RequestIdentifiers}.
 */
class RequestIdentifiersTests {

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private final RequestIdentifiers identifiers = new RequestIdentifiers();

	private final MockHttpServletRequest request = new MockHttpServletRequest();

	@BeforeEach
	void setAddress() {
		this.request.setRemoteAddr("203.0.113.7");
	}

	@Test
	void everyIdentifierIsFound() {
		this.request.addHeader("X-User", "anna");
		this.request.setUserPrincipal(() -> "anna");
		assertThat(find("ip", "user", "header:X-User", "global")).containsExactly(ADDRESS, Identifier.user("anna"),
				Identifier.of("header:X-User", "anna"), Identifier.GLOBAL);
	}

	@Test
	void onlyOthersCountWhenHeaderIsMissing() {
		assertThat(find("header:X-User", "ip")).containsExactly(ADDRESS);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\t" })
	void onlyOthersCountWhenHeaderIsBlank(String value) {
		this.request.addHeader("X-User", value);
		assertThat(find("header:X-User", "global")).containsExactly(Identifier.GLOBAL);
	}

	@Test
	void nameOfHeaderIsFoundInAnyCase() {
		this.request.addHeader("x-user", "anna");
		assertThat(find("header:X-User")).containsExactly(Identifier.of("header:X-User", "anna"));
	}

	@Test
	void addressCountsWhenThereIsNoOtherIdentifier() {
		assertThat(find("header:X-User", "user", "ip+user")).containsExactly(ADDRESS);
	}

	@Test
	void everybodyCountsTogetherWhenThereIsNotEvenAnAddress() {
		this.request.setRemoteAddr("");
		assertThat(find("ip", "user")).containsExactly(Identifier.GLOBAL);
	}

	@Test
	void userIsMissingWhenItHasNoName() {
		this.request.setUserPrincipal(() -> null);
		assertThat(find("user")).containsExactly(ADDRESS);
	}

	@Test
	void combinationCountsAsOne() {
		this.request.setUserPrincipal(() -> "a+b%");
		assertThat(find("ip+user")).containsExactly(Identifier.of("ip+user", "203.0.113.7+a%2Bb%25"));
	}

	@Test
	void combinationIsMissingWhenPartIsMissing() {
		assertThat(find("ip+header:X-User", "global")).containsExactly(Identifier.GLOBAL);
	}

	@ParameterizedTest
	@CsvSource({ "user, true", "ip+user, true", "user+header:X, true", "ip, false", "header:user, false",
			"ip+header:user, false", "global, false" })
	void onlyUserNeedsLogin(String name, boolean expected) {
		assertThat(RequestIdentifiers.needsUser(name)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "", "+", "address", "header:", "header:X:Y", "header:X Y", "Ip", "ip+address", "ip++user" })
	void unknownIdentifierIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.identifiers.resolver(name))
			.withMessage(
					"Invalid identifier (%s): must be ip, user, header:NAME, global, or several of them joined by '+'.",
					name);
	}

	private List<Identifier> find(String... names) {
		return this.identifiers.find(new PolicyUse(
				new IdentifiedPolicy(Policy.of("api", new SlidingLog(), Limit.parse("1/s")), List.of(names)), 1,
				Map.of("#id", "7")), this.request);
	}

}
