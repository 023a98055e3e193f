package io.github.ratelimit.redis.script.template;

import java.time.Duration;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.LeakyBucket;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ComposerTests {

	private static final String SECTIONS = """
			--- load
			--- wait
			--- add
			--- refund
			--- remaining
			--- ttl
			--- state
			""";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			"local a = 1"                              | 1 | code before the first section
			"-- @bucket a"                             | 1 | '@bucket' is not @slot
			"-- @slot a, b_"                           | 1 | 'b_' is not a name
			"-- @slot a, a"                            | 1 | 'a' is not a name, or a duplicate
			"--- lode"                                 | 1 | no such section as 'lode'
			"--- load\\n--- load"                      | 2 | is a duplicate
			"-- @limit a\\n--- load\\nlocal a = 1"     | 3 | must not be local
			"--- load\\n--[if A]\\n--- wait"           | 3 | no end of the instruction in line 2
			"--- load\\n--[end]"                       | 2 | no instruction that this belongs to
			"--- load\\n--[each limit]\\n--[else]"     | 3 | no end of the instruction in line 2
			"--- load\\n--[each window]"               | 2 | is not an instruction
			"--- load"                                 | 1 | no section
			""")
	void errorNamesFileAndLine(String text, int line, String problem) {
		assertThatIllegalArgumentException().isThrownBy(() -> Fragment.parse("own/own.lua", text.replace("\\n", "\n")))
			.withMessageContaining("(own/own.lua, line " + line + ")")
			.withMessageContaining(problem);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			"a = each(f(1)"             | 'each' has no brackets
			"a = count"                 | 'count' belongs to one limit
			"--[each limit]\n--[end]"  | 'each limit' has no meaning here
			"--[if B]\n--[end]"        | there is no constant 'B'
			"--[if QUOTA]\n--[end]"    | there is no constant 'QUOTA'
			""")
	void wordWithoutMeaningIsRefused(String load, String problem) {
		Fragment fragment = Fragment.parse("own.lua", SECTIONS + "--- history\n" + load.replace("\\n", "\n"));
		Context context = new Context(fragment, "", Map.of("A", "1", "count", "", "QUOTA", "p1_QUOTA_1"), Map.of());
		assertThatIllegalArgumentException().isThrownBy(() -> context.section("history"))
			.withMessageContaining("(own.lua, line 9)")
			.withMessageContaining(problem);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			a = each(f(g(h(i(count))))) | a = f(g(h(i(1)))), f(g(h(i(2))))
			a = each(f(')', count))     | a = f(')', 1), f(')', 2)
			""")
	void eachRepeatsAllUpToItsBracket(String line, String lua) {
		Fragment fragment = Fragment.parse("own.lua", SECTIONS + "--- history\n" + line);
		List<Context> limits = Stream.of("1", "2")
			.map((limit) -> new Context(fragment, "", Map.of("count", limit), Map.of()))
			.toList();
		assertThat(new Context(fragment, "", Map.of(), Map.of("each", limits)).section("history"))
			.isEqualTo(lua + "\n");
	}

	@Test
	void completeFragmentIsRead() {
		assertThat(Fragment.parse("own.lua", "-- @slot a, b\n-- @limit c\n" + SECTIONS).names("slot"))
			.containsExactly("a", "b");
	}

	@Test
	void scriptHasOnlyWhatTheOperationNeeds() {
		Policy policy = Policy.of("api", new LeakyBucket(), Limit.parse("3/s"));
		assertThat(
				compose(Operation.ACQUIRE, Policy.of("api", new FixedWindow(2, ZoneOffset.UTC), Limit.parse("3/s")), 1))
			.contains("local function begin_")
			.doesNotContain("find_window");
		assertThat(compose(Operation.ACQUIRE, policy, 1)).contains("local function pace_").doesNotContain("--[");
		assertThat(compose(Operation.PEEK, policy, 1)).doesNotContain("'SET'").doesNotContain("'DEL'");
		assertThat(compose(Operation.REFUND, policy, 1)).contains("'SET'");
	}

	@Test
	void policiesWithTheSameFunctionShareIt() {
		String script = compose(new LeakyBucket(), new TokenBucket(), new TokenBucket(40L));
		assertThat(script).containsOnlyOnce("local function pace_");
	}

	/** Both have a constant of this name, each beside another one. */
	@Test
	void constantsOfDifferentFragmentsAreNotMistakenForEachOther() {
		assertThat(compose(new SlidingLog(), new TokenBucket())).containsPattern("FORM_(\\d+), FIRST_\\1 = ")
			.containsPattern("FORM_(\\d+), (?s:.*)FIRST_(?!\\1,)\\d+, END_");
	}

	@Test
	void tooManyFunctionsAreInATable() {
		String script = compose(new SlidingLog(), new SlidingLog(true), new SlidingWindow(Duration.ofMillis(20)),
				new SlidingWindow(), new FixedWindow(2, ZoneOffset.UTC), new SlidingWindowCounter(0.3, Rounding.DOWN),
				new SlidingWindowCounter(), new LeakyBucket());
		assertThat(script).containsPattern("function f_[.]find_(?s:.*)function f_[.]find_")
			.doesNotContain("local function find");
	}

	@Test
	void lengthDoesNotGrowWithManyIdentifiers() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("3/s"), Limit.parse("9/m"));
		int length = compose(Operation.ACQUIRE, policy, 50).length();
		assertThat(compose(Operation.ACQUIRE, policy, 1000).length()).isLessThan(length + 50_000);
	}

	@Test
	void workGrowsWithIdentifiersAndWithStatesReadWhole() {
		Limit limit = Limit.parse("3/s");
		Policy log = Policy.of("api", new SlidingLog(), limit);
		assertThat(work(Operation.ACQUIRE, log, 1)).isEqualTo(1);
		assertThat(work(Operation.ACQUIRE, log, 100)).isEqualTo(100);
		assertThat(work(Operation.REFUND, log, 1)).isEqualTo(8);
		assertThat(work(Operation.HISTORY, log, 1)).isEqualTo(128);
		assertThat(work(Operation.ACQUIRE, Policy.of("api", new SlidingLog(true), limit), 1)).isEqualTo(16);
	}

	private static int work(Operation operation, Policy policy, int identifiers) {
		return Composer.compose(shape(operation, policy, identifiers)).work();
	}

	private static String compose(Operation operation, Policy policy, int identifiers) {
		return Composer.compose(shape(operation, policy, identifiers)).toString();
	}

	private static String compose(Algorithm... algorithms) {
		List<Shape.OfPolicy> policies = Stream.of(algorithms)
			.map((algorithm) -> Shape.OfPolicy.of(Policy.of("api", algorithm, Limit.parse("3/s")), false))
			.toList();
		return Composer
			.compose(new Shape(Operation.ACQUIRE, Scope.ALL, false, policies,
					Collections.nCopies(policies.size(), List.of(0))))
			.toString();
	}

	private static Shape shape(Operation operation, Policy policy, int identifiers) {
		return new Shape(operation, Scope.ALL, false, List.of(Shape.OfPolicy.of(policy, false)),
				List.of(IntStream.range(0, identifiers).boxed().toList()));
	}

}
