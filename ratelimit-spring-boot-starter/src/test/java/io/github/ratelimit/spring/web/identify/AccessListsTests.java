package io.github.ratelimit.spring.web.identify;

import java.util.List;
import java.util.Map;

import io.github.ratelimit.spring.web.identify.AccessLists.Access;
import io.github.ratelimit.spring.web.address.AddressResolver;
import jakarta.servlet.http.Cookie;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link AccessLists}.
 */
class AccessListsTests {

	private final RequestIdentifiers identifiers = new RequestIdentifiers(new AddressResolver(64, null),
			Map.of("tenant", IdentifierKind.own("tenant", () -> (request) -> request.getHeader("X-Tenant")), "plan",
					IdentifierKind.own("plan", RequestExpression.ofIdentifier("#principal.name"))));

	private final MockHttpServletRequest request = new MockHttpServletRequest();

	@ParameterizedTest
	@CsvSource({ "ip:203.0.113.0/24, 203.0.113.7, true", "ip:203.0.113.0/24, 203.0.114.7, false",
			"ip:203.0.113.0/24, ::ffff:203.0.113.7, true", "ip:203.0.113.0/24, 64:ff9b::203.0.113.7, true",
			"ip:::ffff:203.0.113.0/120, 203.0.113.7, true", "ip:203.0.113.7, 203.0.113.7, true",
			"ip:203.0.113.7, 203.0.113.8, false", "ip:2001:db8::/32, 2001:db8:1:2::3, true",
			"ip:2001:db8::/32, 2001:db9:1:2::3, false", "ip:2001:db8:1:2::3, 2001:db8:1:2::3, true",
			"ip:2001:db8:1:2::3, 2001:db8:1:2::4, false", "ip:2001:db8:1:2::3, [2001:db8:1:2::3%eth0]:80, true",
			"ip:203.0.113.7, unknown, false" })
	void addressIsComparedAsWhole(String entry, String address, boolean expected) {
		this.request.setRemoteAddr(address);
		assertThat(isDenied(false, entry)).isEqualTo(expected);
	}

	/** Before the login and after it. */
	@ParameterizedTest
	@CsvSource({ "header:X-Api-Key:k:1, true, true", "header:x-api-key:k:1, true, true",
			"header:X-Api-Key:K:1, false, false", "header:X-Api-Key:k, false, false", "cookie:session:s1, true, true",
			"cookie:session:s2, false, false", "query:key:stolen, true, true", "tenant:acme, true, true",
			"tenant:acm, false, false", "user:anna, false, true", "user:berta, false, false",
			"plan:anna, false, true" })
	void valueIsComparedAsWholeOnceItIsKnown(String entry, boolean before, boolean after) {
		this.request.addHeader("X-Api-Key", "k:1");
		this.request.addHeader("X-Tenant", "acme");
		this.request.setQueryString("key=stolen");
		this.request.setCookies(new Cookie("session", "s1"));
		this.request.setUserPrincipal(() -> "anna");
		assertThat(isDenied(false, entry)).isEqualTo(before);
		assertThat(isDenied(true, entry)).isEqualTo(after);
	}

	@Test
	void denyWinsOverAllow() {
		this.request.setRemoteAddr("203.0.113.7");
		List<String> block = List.of("ip:203.0.113.0/24");
		List<String> address = List.of("ip:203.0.113.7");
		assertThat(lists(block, address).access(this.request, true)).isEqualTo(Access.DENIED);
		assertThat(lists(address, block).access(this.request, true)).isEqualTo(Access.DENIED);
		assertThat(lists(address, List.of()).access(this.request, true)).isEqualTo(Access.UNLIMITED);
		assertThat(lists(List.of(), List.of()).access(this.request, true)).isEqualTo(Access.LIMITED);
	}

	@ParameterizedTest
	@CsvSource({ "user:anna, false, true", "ip:::1, true, false", "tenant:acme, true, false", "plan:gold, false, true",
			", false, false" })
	void filterIsNeededWhereDeniedClientsAreKnown(@Nullable String entry, boolean before, boolean after) {
		AccessLists lists = lists(List.of(), (entry != null) ? List.of(entry) : List.of());
		assertThat(lists.needFilter(false)).isEqualTo(before);
		assertThat(lists.needFilter(true)).isEqualTo(after);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					ip:10.0.0.1/8       | Invalid address (10.0.0.1/8): must be an address or a block of addresses, and the one of this length is 10.0.0.0/8.
					path:/api           | Invalid entry: must be of ip, user, header:NAME, cookie:NAME, query:NAME or an identifier of your own, not of path.
					method:GET          | Invalid entry: must be of ip, user, header:NAME, cookie:NAME, query:NAME or an identifier of your own, not of method.
					global:x            | Invalid entry: must be of ip, user, header:NAME, cookie:NAME, query:NAME or an identifier of your own, not of global.
					ip+user:1           | Invalid entry: must be of ip, user, header:NAME, cookie:NAME, query:NAME or an identifier of your own, not of ip+user.
					users:admin         | Invalid identifier (users): must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global, plan, tenant, or several of them joined by '+'. Did you mean 'user'?
					""")
	void entryIsRejected(String entry, String message) {
		assertThatIllegalArgumentException().isThrownBy(() -> lists(List.of(), List.of(entry))).withMessage(message);
	}

	@ParameterizedTest
	@ValueSource(strings = { "ip", "ip:", "203.0.113.7", "header:X-Api-Key", "header:X-Api-Key:", "", " ", ":", ":x" })
	void entryIsRejectedWithoutValue(String entry) {
		assertThatIllegalArgumentException().isThrownBy(() -> lists(List.of(), List.of(entry)))
			.withMessage(
					"Invalid entry: must be an identifier and its value, such as ip:203.0.113.0/24 or user:admin.");
	}

	private boolean isDenied(boolean userKnown, String... entries) {
		return lists(List.of(), List.of(entries)).access(this.request, userKnown) == Access.DENIED;
	}

	private AccessLists lists(List<String> allowed, List<String> denied) {
		AccessLists lists = new AccessLists(this.identifiers, List.of());
		allowed.forEach(lists::allow);
		denied.forEach(lists::deny);
		return lists;
	}

}
