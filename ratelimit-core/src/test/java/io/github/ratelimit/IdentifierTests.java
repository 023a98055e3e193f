package io.github.ratelimit;

import java.util.List;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class IdentifierTests {

	@Test
	void typeAndValueMakeAnIdentifier() {
		assertThat(Identifier.ip("203.0.113.7")).isEqualTo(new Identifier("ip", "203.0.113.7"))
			.hasToString("ip:203.0.113.7");
		assertThat(Identifier.user("42")).isEqualTo(new Identifier("user", "42")).hasToString("user:42");
		assertThat(Identifier.GLOBAL).isEqualTo(new Identifier("global", "")).hasToString("global:");
		assertThat(Identifier.user("42")).isNotEqualTo(new Identifier("tenant", "42"));
	}

	@Test
	void combinationNamesAllParts() {
		assertThat(Identifier.combine(List.of(Identifier.ip("203.0.113.7"), Identifier.user("alice"))))
			.isEqualTo(new Identifier("ip+user", "203.0.113.7+alice"));
		assertThat(Identifier.combine(List.of(Identifier.user("a+b%"), new Identifier("x+y", ""), Identifier.GLOBAL)))
			.isEqualTo(new Identifier("user+x%2By+global", "a%2Bb%25++"));
	}

	@Test
	void combinationOfOnePartIsThePart() {
		Identifier part = Identifier.user("a+b%");
		assertThat(Identifier.combine(List.of(part))).isSameAs(part);
	}

	@Property(tries = 4000)
	void differentPartsMakeDifferentCombinations(@ForAll("parts") List<Identifier> some,
			@ForAll("parts") List<Identifier> others) {
		Assume.that(!some.equals(others));
		assertThat(Identifier.combine(some)).isNotEqualTo(Identifier.combine(others));
	}

	@Provide
	Arbitrary<List<Identifier>> parts() {
		Arbitrary<String> texts = Arbitraries.strings().withChars('a', '+', '%', '2', '5', 'B').ofMaxLength(4);
		return Combinators.combine(texts.filter((text) -> !text.isEmpty()), texts)
			.as(Identifier::new)
			.list()
			.ofMinSize(2)
			.ofMaxSize(3);
	}

}
