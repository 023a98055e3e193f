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
import org.jspecify.annotations.Nullable;
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

	private static final String RULE = "must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, plan, tenant, or several of them joined by '+'.";

	private final RequestIdentifiers identifiers = new RequestIdentifiers(new AddressResolver(64, null),
			Map.of("tenant", IdentifierKind.own("tenant", () -> (request) -> request.getHeader("X-Tenant")), "plan",
					IdentifierKind.own("plan", RequestExpression.ofIdentifier("#principal.name"))));

	private final MockHttpServletRequest request = new MockHttpServletRequest();

	@BeforeEach
	void prepare() {
		this.request.setRemoteAddr("203.0.113.7");
		this.request.setMethod("GET");
		this.request.setRequestURI("/users/42");
		this.request.setQueryString("q=a&q=b&p=c+d%2B");
		this.request.setParameter("q", "of the body");
		this.request.setUserPrincipal(() -> "a+b%");
		this.request.addHeader("x-key", "k");
		this.request.addHeader("X-Tenant", "acme");
		this.request.addHeader("X-Blank", " ");
		this.request.addHeader("X-Tab", "\t");
		this.request.addHeader("X-Empty", "");
		this.request.setCookies(new Cookie("other", "x"), new Cookie("session", "s1"), new Cookie("session", "s2"),
				new Cookie("blank", " "));
	}

	/** What a policy with a rule for missing identifiers counts by. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', nullValues = "-", textBlock = """
			ip     | ip; user; header:X-Key; global      | ip=203.0.113.7; user=a+b%; header:X-Key=k; global=
			ip     | tenant; plan; ip+tenant             | tenant=acme; plan=a+b%; ip+tenant=203.0.113.7+acme
			ip     | ip+user                             | ip+user=203.0.113.7+a%2Bb%25
			ip     | cookie:session                      | cookie:session=s1
			ip     | query:q; query:q+query:p            | query:q=a; query:q+query:p=a+c d%2B
			ip     | #id; ip; #blank                     | #id=42; ip=203.0.113.7
			ip     | header:X-Blank; header:X-Tab; header:X-Empty; cookie:blank; global | global=
			ip     | ip+header:X-None; cookie:Session; query:Q; #none; path             | ip=203.0.113.7
			skip   | header:X-None; ip                   | ip=203.0.113.7
			skip   | header:X-None; ip+header:X-None     | -
			deny   | header:X-Key                        | header:X-Key=k
			global | header:X-None; cookie:none          | global=
			global | header:X-None; method               | method=GET
			cookie:none+user | header:X-None             | ip=203.0.113.7
			""")
	void identifiersAreFoundOrReplacedWhenMissing(String missing, String names, @Nullable String expected) {
		PolicyUse use = use(MissingIdentifier.parse(missing), names.split("; "));
		assertThat(
				this.identifiers.find(new PolicyUse(use.policy(), 1, Map.of("#id", "42", "#blank", "")), this.request)
					.stream()
					.map((identifier) -> identifier.type() + "="
							+ (identifier.equals(Identifier.GLOBAL) ? "" : identifier.value())))
			.containsExactly((expected != null) ? expected.split("; ") : new String[0]);
	}

	@Test
	void everybodyCountsTogetherWhenThereIsNotEvenAnAddress() {
		this.request.setRemoteAddr("");
		this.request.setUserPrincipal(() -> null);
		assertThat(find("ip", "user")).containsExactly(Identifier.GLOBAL);
	}

	@ParameterizedTest
	@CsvSource({ "GET, GET", "HEAD, GET", "POST, POST", "DELETE, DELETE", "get, *", "FETCH, *", "X1, *" })
	void unknownMethodsShareOneValue(String method, String expected) {
		this.request.setMethod(method);
		assertThat(find("method")).containsExactly(new Identifier("method", expected));
	}

	@Test
	void everyPatternCountsWhenFormsOfPathMatchSeveral() {
		PolicyUse use = use(MissingIdentifier.ADDRESS, "ip+path", "method").withPatterns(List.of("/a/**", "/b/**"));
		assertThat(this.identifiers.find(use, this.request)).containsExactly(
				new Identifier("ip+path", "203.0.113.7+/a/**"), new Identifier("ip+path", "203.0.113.7+/b/**"),
				new Identifier("method", "GET"));
	}

	@Test
	void callerIsDeniedWhenIdentifierIsMissingUnlessInShadow() {
		assertThatExceptionOfType(CallerDeniedException.class)
			.isThrownBy(() -> this.identifiers.find(use(MissingIdentifier.DENY, "ip", "header:X-User"), this.request))
			.withMessage("The caller lacks the identifier header:X-User, which the policy api requires");
		IdentifiedPolicy shadow = new IdentifiedPolicy(POLICY, List.of("header:X-User"),
				new Enforcement(Mode.SHADOW, OnStoreFailure.ALLOW, null, MissingIdentifier.DENY));
		assertThat(this.identifiers.find(new PolicyUse(shadow, 1, Map.of()), this.request)).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "ip, skip, false", "ip, user, true", "tenant, ip+plan, true", "plan, global, true",
			"tenant, ip, false", "ip+plan, skip, true", "cookie:user, skip, false", "query:user, skip, false",
			"path, skip, false", "method, skip, false", "user, skip, true", "ip+user, skip, true",
			"user+header:X, skip, true", "header:user, skip, false", "ip+header:user, skip, false",
			"global, skip, false" })
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
		return this.identifiers.find(use(MissingIdentifier.ADDRESS, names), this.request);
	}

	private static PolicyUse use(MissingIdentifier missing, String... names) {
		return new PolicyUse(new IdentifiedPolicy(POLICY, List.of(names),
				new Enforcement(Mode.ENFORCE, OnStoreFailure.ALLOW, null, missing)), 1, Map.of());
	}

}
