package io.github.ratelimit.spring.web.address;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

import io.github.ratelimit.spring.config.ForwardedHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.mock.web.MockHttpServletRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link TrustedProxies}.
 */
class TrustedProxiesTests {

	private static final List<String> PROXIES = List.of("10.0.0.0/8", "192.0.2.1", "fd00::/8");

	private static final Map<ForwardedHeader, TrustedProxies> TRUSTED = Arrays.stream(ForwardedHeader.values())
		.collect(Collectors.toMap((header) -> header, (header) -> new TrustedProxies(PROXIES, header)));

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			10.0.0.1           | 203.0.113.7                              | 203.0.113.7
			10.0.0.1           | 6.6.6.6, 203.0.113.7                     | 203.0.113.7
			10.0.0.1           | 6.6.6.6, 203.0.113.7, 10.9.9.9           | 203.0.113.7
			10.0.0.1           | 6.6.6.6,203.0.113.7,192.0.2.1,10.9.9.9   | 203.0.113.7
			10.0.0.1           | 10.1.1.1, 203.0.113.7, 10.9.9.9          | 203.0.113.7
			10.0.0.1           | 10.1.1.1, 10.2.2.2                       | 10.1.1.1
			10.0.0.1           |                                          | 10.0.0.1
			203.0.113.9        | 6.6.6.6                                  | 203.0.113.9
			203.0.113.9        | 6.6.6.6, 10.0.0.1                        | 203.0.113.9
			192.0.2.2          | 6.6.6.6                                  | 192.0.2.2
			192.0.2.1          | 203.0.113.7                              | 203.0.113.7
			::ffff:10.0.0.1    | 203.0.113.7                              | 203.0.113.7
			fd12::1            | 203.0.113.7                              | 203.0.113.7
			fd12::1%eth0       | 203.0.113.7                              | 203.0.113.7
			10.0.0.1           | 203.0.113.7, ::ffff:10.0.0.2             | 203.0.113.7
			10.0.0.1           | ::ffff:203.0.113.7                       | 203.0.113.7
			10.0.0.1           | 64:ff9b::203.0.113.7                     | 203.0.113.7
			10.0.0.1           | 2001:db8:1:2::3                          | 2001:db8:1:2::3
			10.0.0.1           | [2001:db8:1:2::3]:4711, 10.0.0.2:80      | 2001:db8:1:2::3
			10.0.0.1           | 203.0.113.7:4711                         | 203.0.113.7
			10.0.0.1           | fe80::3%eth0                             | fe80::3
			""")
	void clientIsLastHopThatIsNoProxy(String connection, String header, String expected) {
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, connection, header)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "unknown", "_hidden", "localhost", "example.com", "010.1.1.1", "0x0a.1.1.1", "10.1", "10",
			"167772161", "10.1.1.*", "10.1.1.0/24", "*", "10.1.1.1 10.1.1.2", "10.1.1.256", "1.1.1.10.in-addr.arpa",
			"2001-db8--1.ipv6-literal.net", "10.1.1.1:port", "10.1.1.1:99999", "[10.1.1.1]", "[::1", "::1]", "::1::",
			"10.1.1.1;", "\"10.1.1.1\"", "１０.1.1.1" })
	void walkEndsAtLastHopThatCanBeRead(String hop) {
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", "6.6.6.6, " + hop + ", 10.9.9.9"))
			.isEqualTo("10.9.9.9");
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", "6.6.6.6, " + hop)).isEqualTo("10.0.0.1");
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", hop + ", 203.0.113.7")).isEqualTo("203.0.113.7");
	}

	@Test
	void linesFollowEachOther() {
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", "6.6.6.6", "7.7.7.7, 203.0.113.7", "10.9.9.9"))
			.isEqualTo("203.0.113.7");
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", "6.6.6.6, 203.0.113.7", "", " , ", "10.9.9.9"))
			.isEqualTo("203.0.113.7");
		assertThat(client(ForwardedHeader.FORWARDED, "10.0.0.1", "for=6.6.6.6", "for=203.0.113.7", "for=10.9.9.9"))
			.isEqualTo("203.0.113.7");
	}

	@Test
	void otherHeaderDoesNotCount() {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.addHeader("Forwarded", "for=6.6.6.6");
		request.addHeader("X-Forwarded-For", "203.0.113.7");
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", request)).isEqualTo("203.0.113.7");
		assertThat(client(ForwardedHeader.FORWARDED, "10.0.0.1", request)).isEqualTo("6.6.6.6");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			for=203.0.113.7                                                     | 203.0.113.7
			FOR=203.0.113.7;proto=https;by=10.0.0.1                             | 203.0.113.7
			proto=https; For="203.0.113.7:4711" ;host=example.com               | 203.0.113.7
			for=203.0.113.7:4711                                                | 203.0.113.7
			for="[2001:db8:1:2::3]:4711"                                        | 2001:db8:1:2::3
			for="[2001:db8:1:2::3]", for=10.9.9.9                               | 2001:db8:1:2::3
			for=6.6.6.6, for=203.0.113.7;by="a,b;for=\\"7.7.7.7\\"", for=10.9.9.9 | 203.0.113.7
			for="203.0\\.113.7"                                                 | 203.0.113.7
			for=6.6.6.6;by=", for=203.0.113.7                                   | 203.0.113.7
			for=6.6.6.6;by="x, for="203.0.113.7"                                | 203.0.113.7
			for=6.6.6.6;by=\\", for="203.0.113.7"                               | 203.0.113.7
			for=6.6.6.6, for=unknown                                            | 10.0.0.1
			for=6.6.6.6, for=_hidden, for=10.9.9.9                              | 10.9.9.9
			for=6.6.6.6, for="203.0.113.7:_port"                                | 10.0.0.1
			for=6.6.6.6, proto=https                                            | 10.0.0.1
			for=6.6.6.6, for=203.0.113.7;for=7.7.7.7                            | 10.0.0.1
			for=6.6.6.6, for = 203.0.113.7                                      | 10.0.0.1
			for=6.6.6.6, for="203.0.113.7"x                                     | 10.0.0.1
			for=6.6.6.6, for="203.0.113.7                                       | 10.0.0.1
			for=6.6.6.6, 203.0.113.7                                            | 10.0.0.1
			for=6.6.6.6, for=localhost                                          | 10.0.0.1
			for=6.6.6.6, for=                                                   | 10.0.0.1
			for=6.6.6.6, for=""                                                 | 10.0.0.1
			""")
	void standardHeaderIsReadFromItsEnd(String header, String expected) {
		assertThat(client(ForwardedHeader.FORWARDED, "10.0.0.1", header)).isEqualTo(expected);
	}

	@Test
	void workIsBoundedWhenHeaderIsHuge() {
		String chain = "6.6.6.6, " + "10.1.1.1, ".repeat(100_000) + "10.9.9.9";
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", chain)).isEqualTo("10.1.1.1");
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", "6.6.6.6" + ",".repeat(100_000)))
			.isEqualTo("10.0.0.1");
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", "1".repeat(100_000))).isEqualTo("10.0.0.1");
		assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", "[" + "::".repeat(50_000)))
			.isEqualTo("10.0.0.1");
		for (String odd : List.of("\"", "\\\"", "\\", "for=\"\\", "for=\"a\";", "a=b;", ";", "=", " ")) {
			assertThat(client(ForwardedHeader.FORWARDED, "10.0.0.1", odd.repeat(100_000))).as(odd)
				.isEqualTo("10.0.0.1");
			assertThat(client(ForwardedHeader.FORWARDED, "10.0.0.1", odd.repeat(100_000) + ",for=203.0.113.7")).as(odd)
				.isEqualTo("203.0.113.7");
		}
	}

	/** The proxy in front of a client appends its true address, whatever it sends. */
	@Test
	void nothingThatClientSendsHidesWhatItsProxyWrote() {
		Random random = new Random(1);
		String characters = ",;=\"\\ \t:[]%./_-fForby0123456789abcdef\u00e9\u0000*~";
		for (int i = 0; i < 5_000; i++) {
			StringBuilder sent = new StringBuilder();
			int length = random.nextInt(40);
			for (int j = 0; j < length; j++) {
				sent.append(characters.charAt(random.nextInt(characters.length())));
			}
			assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", sent + ", 203.0.113.7, 10.9.9.9"))
				.isEqualTo("203.0.113.7");
			assertThat(client(ForwardedHeader.FORWARDED, "10.0.0.1",
					sent + ", for=\"203.0.113.7:1\";by=\"x,\\\"y\", for=10.9.9.9"))
				.as(sent.toString())
				.isEqualTo("203.0.113.7");
			assertThat(client(ForwardedHeader.FORWARDED, "10.0.0.1", sent.toString())).isNotNull();
			assertThat(client(ForwardedHeader.X_FORWARDED_FOR, "10.0.0.1", sent.toString())).isNotNull();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "0.0.0.0/0", "::/0", "0.0.0.0/1,128.0.0.0/1", "128.0.0.0/1,10.0.0.0/8,0.0.0.0/1",
			"::/1,8000::/1", "2000::/3", "2000::/4,3000::/4", "::/2", "::ffff:0:0/96",
			"::ffff:0.0.0.0/97,::ffff:128.0.0.0/97", "64:ff9b::/96", "0.0.0.0/1,::ffff:128.0.0.0/97" })
	void proxiesAreRejectedWhenTheyAreAllAddresses(String blocks) {
		List<String> list = List.of(blocks.split(","));
		assertThatIllegalArgumentException().isThrownBy(() -> new TrustedProxies(list, ForwardedHeader.X_FORWARDED_FOR))
			.withMessage(
					"Invalid trusted proxies %s: must not be all addresses, because any client could then send the header, and choose by which address it is counted; name your own proxies only, such as 10.0.0.0/8.",
					list);
	}

	@ParameterizedTest
	@ValueSource(strings = { "0.0.0.0/1", "128.0.0.0/1,64.0.0.0/2", "10.0.0.0/8", "2001:db8::/32", "10.0.0.1",
			"10.0.0.1/32", "::1", "::ffff:10.0.0.0/104", " 10.0.0.0/8 " })
	void proxiesAreAddressesAndBlocks(String blocks) {
		assertThat(new TrustedProxies(List.of(blocks.split(",")), ForwardedHeader.FORWARDED)).isNotNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "localhost", "proxy.example.com", "", "*", "10.*.*.*", "10.0.0.0-255", "10/8", "/8",
			"10.0.0.0/33", "2001:db8::/129", "10.0.0.0/255.0.0.0", "10.0.0.0/", "010.0.0.0/8", "0xa.0.0.0/8", "1",
			"10.0.0.1:80", "[::1]", "fe80::1%eth0", "10.0.0.0/8/8", "1.0.0.127.in-addr.arpa" })
	void proxyIsRejectedWhenItIsNeitherAddressNorBlock(String text) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new TrustedProxies(List.of(text), ForwardedHeader.X_FORWARDED_FOR))
			.withMessage(
					"Invalid address (%s): must be an address or a block of addresses, such as 10.0.0.0/8 or 2001:db8::/32; names are not looked up.",
					text);
	}

	private static String client(ForwardedHeader header, String connection, String... lines) {
		MockHttpServletRequest request = new MockHttpServletRequest();
		for (String line : lines) {
			request.addHeader(header.headerName(), (line != null) ? line : "");
		}
		return client(header, connection, request);
	}

	private static String client(ForwardedHeader header, String connection, MockHttpServletRequest request) {
		return TRUSTED.get(header).client(AddressText.connection(connection), request).toCanonicalString();
	}

}
