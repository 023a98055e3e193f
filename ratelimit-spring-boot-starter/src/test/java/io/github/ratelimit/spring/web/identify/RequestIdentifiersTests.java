package io.github.ratelimit.spring.web.identify;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.web.address.AddressResolver;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link RequestIdentifiers}.
 */
class RequestIdentifiersTests {

	private static final Policy POLICY = new Policy("api", new SlidingLog(), List.of(Limit.parse("1/s")));

	private static final Identifier ADDRESS = Identifier.ip("203.0.113.7");

	private static final String RULE = "must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, plan, tenant, or several of them joined by '+'.";

	private final RequestIdentifiers identifiers = new RequestIdentifiers(new AddressResolver(64, null),
			Map.of("tenant", IdentifierKind.own("tenant", () -> (request) -> request.getHeader("X-Tenant")), "plan",
					IdentifierKind.own("plan", RequestExpression.ofIdentifier("#principal.name"))));

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
				new Identifier("header:X-User", "anna"), Identifier.GLOBAL);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\t" })
	void blankValueCountsAsMissing(String value) {
		assertThat(find("header:X-Tenant", "ip")).containsExactly(ADDRESS);
		this.request.addHeader("X-Tenant", value);
		this.request.setCookies(new Cookie("session", value));
		assertThat(find("header:X-Tenant", "tenant", "cookie:session", "global")).containsExactly(Identifier.GLOBAL);
	}

	@Test
	void nameOfHeaderIsFoundInAnyCase() {
		this.request.addHeader("x-user", "anna");
		assertThat(find("header:X-User")).containsExactly(new Identifier("header:X-User", "anna"));
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
		assertThat(find("ip+user")).containsExactly(new Identifier("ip+user", "203.0.113.7+a%2Bb%25"));
	}

	@Test
	void combinationIsMissingWhenPartIsMissing() {
		assertThat(find("ip+header:X-User", "global")).containsExactly(Identifier.GLOBAL);
	}

	@Test
	void cookieIsFound() {
		this.request.setCookies(new Cookie("other", "x"), new Cookie("session", "s1"), new Cookie("session", "s2"));
		assertThat(find("cookie:session")).containsExactly(new Identifier("cookie:session", "s1"));
		assertThat(find("cookie:Session")).containsExactly(ADDRESS);
	}

	@Test
	void cookieIsMissingWhenNotRead() {
		HttpServletRequest tooMany = new HttpServletRequestWrapper(this.request) {

			@Override
			public Cookie[] getCookies() {
				throw new IllegalArgumentException("Too many cookies");
			}

		};
		assertThat(this.identifiers.find(use(MissingIdentifier.ADDRESS, "cookie:session"), tooMany))
			.containsExactly(ADDRESS);
	}

	@Test
	void firstValueInQueryCounts() {
		this.request.setQueryString("q=a&q=b&p=c+d%2B");
		this.request.setParameter("q", "of the body");
		assertThat(find("query:q")).containsExactly(new Identifier("query:q", "a"));
		assertThat(find("query:q+query:p")).containsExactly(new Identifier("query:q+query:p", "a+c d%2B"));
		assertThat(find("query:Q")).containsExactly(ADDRESS);
	}

	@ParameterizedTest
	@CsvSource({ "GET, GET", "HEAD, GET", "POST, POST", "DELETE, DELETE", "get, *", "FETCH, *", "X1, *" })
	void unknownMethodsShareOneValue(String method, String expected) {
		this.request.setMethod(method);
		assertThat(find("method")).containsExactly(new Identifier("method", expected));
	}

	@Test
	void pathIsPatternAndNotPathOfRequest() {
		this.request.setRequestURI("/users/42");
		assertThat(find(MissingIdentifier.ADDRESS, List.of("/users/{id}"), "path"))
			.containsExactly(new Identifier("path", "/users/{id}"));
		assertThat(find("path")).containsExactly(ADDRESS);
	}

	@Test
	void everyPatternCountsWhenFormsOfPathMatchSeveral() {
		assertThat(find(MissingIdentifier.ADDRESS, List.of("/a/**", "/b/**"), "ip+path", "method")).containsExactly(
				new Identifier("ip+path", "203.0.113.7+/a/**"), new Identifier("ip+path", "203.0.113.7+/b/**"),
				new Identifier("method", "*"));
	}

	@Test
	void customIdentifiersAreFound() {
		this.request.addHeader("X-Tenant", "acme");
		this.request.setUserPrincipal(() -> "gold");
		assertThat(find("tenant", "plan", "ip+tenant")).containsExactly(new Identifier("tenant", "acme"),
				new Identifier("plan", "gold"), new Identifier("ip+tenant", "203.0.113.7+acme"));
	}

	@Test
	void valuesOfExpressionsComeFirst() {
		IdentifiedPolicy policy = use(MissingIdentifier.ADDRESS, "#id", "ip").policy();
		assertThat(this.identifiers.find(new PolicyUse(policy, 1, Map.of("#id", "42")), this.request))
			.containsExactly(new Identifier("#id", "42"), ADDRESS);
		assertThat(this.identifiers.find(new PolicyUse(policy, 1, Map.of("#id", "")), this.request))
			.containsExactly(ADDRESS);
	}

	@Test
	void missingIdentifierIsSkipped() {
		assertThat(find(MissingIdentifier.SKIP, List.of(), "header:X-User", "ip")).containsExactly(ADDRESS);
		assertThat(find(MissingIdentifier.SKIP, List.of(), "header:X-User", "user", "ip+user")).isEmpty();
	}

	@Test
	void callerIsDeniedWhenAnyIdentifierIsMissing() {
		assertThatExceptionOfType(CallerDeniedException.class)
			.isThrownBy(() -> find(MissingIdentifier.DENY, List.of(), "ip", "header:X-User"))
			.withMessage("The caller lacks the identifier header:X-User, which the policy api requires");
		this.request.addHeader("X-User", "anna");
		assertThat(find(MissingIdentifier.DENY, List.of(), "header:X-User"))
			.containsExactly(new Identifier("header:X-User", "anna"));
	}

	@Test
	void callerIsNotDeniedInShadowMode() {
		IdentifiedPolicy policy = new IdentifiedPolicy(POLICY, List.of("header:X-User"),
				new Enforcement(Mode.SHADOW, OnStoreFailure.ALLOW, null, MissingIdentifier.DENY));
		assertThat(this.identifiers.find(new PolicyUse(policy, 1, Map.of()), this.request)).isEmpty();
	}

	@Test
	void fallbackIsUsedWhenAllIdentifiersAreMissing() {
		MissingIdentifier global = MissingIdentifier.parse("global");
		assertThat(find(global, List.of(), "header:X-User", "user")).containsExactly(Identifier.GLOBAL);
		assertThat(find(global, List.of(), "header:X-User", "method")).containsExactly(new Identifier("method", "*"));
	}

	@Test
	void addressIsUsedWhenFallbackIsMissing() {
		assertThat(find(MissingIdentifier.parse("cookie:id+user"), List.of(), "header:X-User"))
			.containsExactly(ADDRESS);
	}

	@ParameterizedTest
	@CsvSource({ "ip, skip, false", "ip, user, true", "tenant, ip+plan, true", "plan, global, true",
			"tenant, ip, false" })
	void policyNeedsUserWhenIdentifierOrFallbackDoes(String name, String missing, boolean expected) {
		assertThat(this.identifiers.needsUser(use(MissingIdentifier.parse(missing), name).policy()))
			.isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ip", "user", "path", "method", "global", "header", "cookie", "query", "skip", "deny", "",
			"a b", "a+b", "header:X", "-a", "ä", "a\n" })
	void nameOfCustomIdentifierIsRejected(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> IdentifierNames.requireUsable(name))
			.withMessage(
					"Invalid name of an identifier (%s): must be letters, digits, dots, underscores and hyphens, and none of %s.",
					name, "[cookie, deny, global, header, ip, method, path, query, skip, user]");
	}

	@ParameterizedTest
	@CsvSource({ "plan, true", "tenant, false", "ip+plan, true", "cookie:user, false", "query:user, false",
			"path, false", "method, false", "user, true", "ip+user, true", "user+header:X, true", "ip, false",
			"header:user, false", "ip+header:user, false", "global, false" })
	void onlyUserNeedsLogin(String name, boolean expected) {
		assertThat(this.identifiers.needsUser(name)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "+", "address", "header:", "header:X:Y", "header:X Y", "Ip", "ip+address", "ip++user",
			"cookie:", "cookie:a b", "query:", "query:a[b]", "param:q", "skip", "deny", "Tenant", "path:/a", "#id",
			"ip+#id" })
	void unknownIdentifierIsRejected(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.identifiers.requireKnown(name))
			.withMessageStartingWith("Invalid identifier (%s): %s".formatted(name, RULE));
	}

	@ParameterizedTest
	@ValueSource(strings = { "param:q", "parameter:q", "request-param:q", "PARAM:q", "arg:q", "ip+param:q" })
	void queryIsProposedForParameter(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.identifiers.requireKnown(name))
			.withMessageEndingWith("Did you mean 'query:q'?");
	}

	private List<Identifier> find(String... names) {
		return find(MissingIdentifier.ADDRESS, List.of(), names);
	}

	private List<Identifier> find(MissingIdentifier missing, List<String> patterns, String... names) {
		return this.identifiers.find(use(missing, names).withPatterns(patterns), this.request);
	}

	private static PolicyUse use(MissingIdentifier missing, String... names) {
		return new PolicyUse(new IdentifiedPolicy(POLICY, List.of(names),
				new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null, missing)), 1, Map.of());
	}

}
