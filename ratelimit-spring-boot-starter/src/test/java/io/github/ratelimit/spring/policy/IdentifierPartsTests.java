package io.github.ratelimit.spring.policy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

}
