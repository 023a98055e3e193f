package io.github.ratelimit.spring.decide;

import java.util.List;

import io.github.ratelimit.Identifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IdentifierNames}.
 */
class IdentifierNamesTests {

	@ParameterizedTest
	@CsvSource(commentCharacter = '~', quoteCharacter = '`', delimiter = '|', textBlock = """
			ip                       | ip
			ip+user                  | ip ; user
			ip+#order.customerId     | ip ; #order.customerId
			#a+#b+ip                 | #a ; #b ; ip
			#a.plus(1+2)+ip          | #a.plus(1+2) ; ip
			#a['x+y']+#b["+"]        | #a['x+y'] ; #b["+"]
			#a['it''s+']+ip          | #a['it''s+'] ; ip
			#a.concat({'+', 'b'})+ip | #a.concat({'+', 'b'}) ; ip
			header:it's+ip           | header:it's ; ip
			header:a#'b+ip           | header:a#'b ; ip
			""")
	void partsAreWhatStandsBetweenPlusSigns(String name, String parts) {
		assertThat(IdentifierNames.parts(name)).containsExactly(parts.split(" ; "));
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = '|', textBlock = """
			1/s                          | 1/s
			1/s, 20/m                    | 1/s ; 20/m
			ip,#a.get(1, 2)+user , #b    | ip ; #a.get(1, 2)+user ; #b
			ip+#a[','],header:it's,user  | ip+#a[','] ; header:it's ; user
			""")
	void elementsAreWhatStandsBetweenCommas(String text, String elements) {
		assertThat(IdentifierNames.list(text)).containsExactly(elements.split(" ; "));
	}

	@ParameterizedTest
	@CsvSource({ "ip, ::1, <::1>", "ip, a+b, <a+b>", "ip+ip, ::1+203.0.113.7, <::1>+<203.0.113.7>",
			"user+ip, a%2B10.0.0.0/8+::1, a%2B10.0.0.0/8+<::1>", "user, 10.0.0.0/8, 10.0.0.0/8", "header:ip, 999, 999",
			"ip+user, 999, 999", "global, '', ''" })
	void onlyAddressesOfIdentifierAreChanged(String type, String value, String expected) {
		assertThat(IdentifierNames.withAddress(new Identifier(type, value), "<%s>"::formatted))
			.isEqualTo(new Identifier(type, expected));
	}

	@ParameterizedTest
	@CsvSource({ "ip:::1, ip, ::1", "header:X:a:b, header:X, a:b", "header:X:Y:a, header:X:Y, a", "global, global, ''",
			"user:, user, ''" })
	void identifierIsOfLongestTypeThatFits(String text, String type, String value) {
		assertThat(IdentifierNames.withValue(text, List.of("ip", "user", "header:X", "header:X:Y")))
			.isEqualTo(new Identifier(type, value));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "ip", "users:a", "global:", "header:Y:a" })
	void thereIsNoIdentifierWhenNoTypeFits(String text) {
		assertThat(IdentifierNames.withValue(text, List.of("ip", "user", "header:X"))).isNull();
	}

	@Test
	void namesThatMayBeMeantAreThoseOfNamedKinds() {
		assertThat(IdentifierNames.similar("headr:X")).containsExactly("ip", "user", "path", "method", "global",
				"header:X", "cookie:X", "query:X");
		assertThat(IdentifierNames.similar("header:X Y")).containsExactly("ip", "user", "path", "method", "global");
	}

}
