package io.github.ratelimit.redis.script;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.util.JedisClusterCRC16;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RedisKeysTests {

	private static final String ENCODED = "[A-Za-z0-9._@+/%-]{1,64}|~[A-Za-z0-9_-]{43}";

	private static final String ENCODED_VALUE = "[A-Za-z0-9._@+/%:-]{0,64}|~[A-Za-z0-9_-]{43}";

	private final KeyNames keys = new KeyNames("ratelimit");

	private final Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("3/s"), Limit.parse("5/15m"));

	/** Texts that an encoding could take for something else. */
	static Set<String> oddTexts() {
		String longText = "x".repeat(65_535);
		Set<String> texts = new LinkedHashSet<>(List.of("", " ", ":", "a", "a:b", "a:b:c", "{", "}", "{}", "{x}", "x}",
				"}:api:fw-s-15m", "%", "%%", "%25", "%2525", "%7D", "%u0041", "%uD83D%uDE00", "A", "%41", "+", "%2B",
				"\n", "\r\n", "\u0000", "\u0000\u0000", "\u00ff", "\u0100", "ÿ", "~", "~~", "?", "\ud800", "\ud801",
				"\udc00", "\ud83d\ude00", "\ude00\ud83d", "é", "e\u0301", "\u202e", "x".repeat(64), "x".repeat(65),
				longText + "a", longText + "b", "\u0000".repeat(21), "\u0000".repeat(22), "\u2603".repeat(10),
				"\u2603".repeat(11)));
		KeyNames keys = new KeyNames("p");
		Policy policy = Policy.of("x", new FixedWindow(), Limit.parse("1/s"));
		for (String text : List.copyOf(texts)) {
			// What stands in the Redis key for this text, as a text of its own.
			String key = keys.key(Identifier.user(text), policy);
			texts.add(key.substring("p:{user:".length(), key.indexOf('}')));
			texts.add(key);
		}
		return texts;
	}

	@Test
	void keyNamesIdentifierPolicyAndForm() {
		assertThat(this.keys.key(Identifier.ip("2001:db8::/64"), this.policy))
			.isEqualTo("ratelimit:{ip:2001:db8::/64}:api:fw-s-15m");
		assertThat(this.keys.key(Identifier.user("alice@example.org"), this.policy))
			.isEqualTo("ratelimit:{user:alice@example.org}:api:fw-s-15m");
		assertThat(this.keys.key(Identifier.GLOBAL, this.policy)).isEqualTo("ratelimit:{global:}:api:fw-s-15m");
		Policy otherQuotas = Policy.of("api", new FixedWindow(), Limit.parse("7/900s"), Limit.parse("4/1000ms"));
		assertThat(this.keys.key(Identifier.GLOBAL, otherQuotas)).isEqualTo("ratelimit:{global:}:api:fw-s-15m");
		assertThat(this.keys.key(new Identifier("a:b", "{é}\ud800"), this.policy))
			.isEqualTo("ratelimit:{a%3Ab:%7B%E9%7D%uD800}:api:fw-s-15m");
		assertThat(this.keys.key(Identifier.user("x".repeat(65)), this.policy))
			.isEqualTo("ratelimit:{user:~lTfF_fEgSC99WNJentWD9SwCtOME6oFNsWM61WWu1-k}:api:fw-s-15m");
	}

	@Test
	void oddIdentifiersAndPoliciesNeverShareAKey() {
		Map<String, List<Object>> owners = new HashMap<>();
		Set<String> texts = oddTexts();
		for (Policy each : policies().toList()) {
			for (String text : texts) {
				Stream.of(Identifier.user(text), new Identifier("t:" + text, "v"), new Identifier("t", text + ":v"))
					.distinct()
					.forEach((identifier) -> {
						List<Object> owner = List.of(identifier, each.name(), each.stateForm());
						List<Object> other = owners.put(this.keys.key(identifier, each), owner);
						assertThat(other).as("owner of the Redis key of %s", owner).isNull();
					});
			}
		}
		assertThat(owners).hasSizeGreaterThan(1000);
	}

	private static Stream<Policy> policies() {
		return Stream.of("api", "api:fw", "api:fw-s", "a}b", "a%7Db", "api ", "~", "x".repeat(64), "x".repeat(65))
			.flatMap((name) -> Stream.of(Policy.of(name, new FixedWindow(), Limit.parse("1/s")),
					Policy.of(name, new FixedWindow(), Limit.parse("1/m")),
					Policy.of(name, new FixedWindow(), Limit.parse("1/s"), Limit.parse("1/m")),
					Policy.of(name, new SlidingLog(), Limit.parse("1/s"))));
	}

	@Property(tries = 4000)
	void differentIdentifiersNeverShareAKey(@ForAll("identifiers") Identifier one,
			@ForAll("identifiers") Identifier other) {
		Assume.that(!one.equals(other));
		assertThat(this.keys.key(one, this.policy)).isNotEqualTo(this.keys.key(other, this.policy));
	}

	@Property(tries = 4000)
	void keyIsShortAndItsHashTagIsTheIdentifier(@ForAll("identifiers") Identifier identifier) {
		String key = this.keys.key(identifier, this.policy);
		assertThat(key).hasSizeLessThan(200)
			.matches("ratelimit:\\{(" + ENCODED + "):(" + ENCODED_VALUE + ")}:api:fw-s-15m");
		String tag = key.substring(key.indexOf('{') + 1, key.indexOf('}'));
		int slot = JedisClusterCRC16.getSlot(tag);
		assertThat(policies().map((each) -> this.keys.key(identifier, each)))
			.allSatisfy((each) -> assertThat(each).hasSizeLessThan(256))
			.extracting((each) -> JedisClusterCRC16.getSlot(each))
			.containsOnly(slot);
	}

	@Provide
	Arbitrary<Identifier> identifiers() {
		Arbitrary<String> few = Arbitraries.strings()
			.withChars(':', '{', '}', '%', '~', '+', '2', '5', 'u', '\ud800', '\udc00', '?', '\u0000')
			.ofMaxLength(5);
		Arbitrary<String> all = Arbitraries.strings()
			.withCharRange(Character.MIN_VALUE, Character.MAX_VALUE)
			.ofMaxLength(30);
		Arbitrary<String> odd = Arbitraries.of(oddTexts());
		Arbitrary<String> texts = Arbitraries.frequencyOf(Tuple.of(5, few), Tuple.of(3, all), Tuple.of(2, odd));
		return Combinators.combine(texts.filter((text) -> !text.isEmpty()), texts)
			.as(Identifier::new)
			.withoutEdgeCases();
	}

	@ParameterizedTest
	@ValueSource(strings = { "ratelimit", "a", "my-app:rate_limit.v2", "A09" })
	void prefixStandsInFront(String prefix) {
		assertThat(new KeyNames(prefix).key(Identifier.GLOBAL, this.policy))
			.isEqualTo(prefix + ":{global:}:api:fw-s-15m");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "{x}", "a}", "é", "a\n",
			"12345678901234567890123456789012345678901234567890123456789012345" })
	void prefixThatCouldBreakAKeyIsRefused(String prefix) {
		assertThatIllegalArgumentException().isThrownBy(() -> new KeyNames(prefix))
			.withMessage("Invalid key prefix (" + prefix + "): must be 1 to 64 of the characters A-Z a-z 0-9 . _ : -");
	}

	@Test
	void secretHidesValuesAndTellsThemApart() {
		RedisKeys one = new RedisKeys("ratelimit", new byte[] { 1 });
		RedisKeys other = new RedisKeys("ratelimit", new byte[] { 2 });
		String key = text(one.key(Identifier.user("alice"), this.policy));
		assertThat(key).matches("ratelimit:\\{user:~[A-Za-z0-9_-]{43}\\}:api:fw-s-15m")
			.isEqualTo(text(one.key(Identifier.user("alice"), this.policy)))
			.isNotEqualTo(text(one.key(Identifier.user("bob"), this.policy)))
			.isNotEqualTo(text(other.key(Identifier.user("alice"), this.policy)));
		assertThat(text(one.blocks(Identifier.user("alice")))).startsWith(key.substring(0, key.indexOf('}') + 2));
		assertThatIllegalArgumentException().isThrownBy(() -> new RedisKeys("ratelimit", new byte[0]));
	}

	private static String text(byte[] key) {
		return new String(key, StandardCharsets.ISO_8859_1);
	}

}
