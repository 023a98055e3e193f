package io.github.ratelimit.redis.script;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.redis.script.Fragment.Line;
import org.jspecify.annotations.Nullable;

/**
 * Composes the script of a shape: {@code request.lua}, and in it the fragments of the
 * algorithms. Everything is written for each policy and identifier, and its variables and
 * functions are locals. Where these would be too many for Lua, there are loops over the
 * identifiers of a policy, and tables.
 */
final class Composer {

	/** For more policies and identifiers than that, a script has loops. */
	private static final int MOST_SLOTS = 8;

	/** A function of Lua can refer to 60 locals around it. */
	private static final int MOST_FUNCTIONS = 50;

	/** Lua has 200 locals in a function, and 250 registers. */
	private static final int MOST_LOCALS = 150;

	/** Stands for the number of a function while that is written. */
	private static final String OWN_NUMBER = "\0";

	/** Stands for the locals of a request, which are known when all is written. */
	private static final String LOCALS = "LOCALS_";

	/** What is repeated in a string. */
	private static final Pattern REPEATED = Pattern.compile("(each|every_)\\(([^()]*)\\)");

	private final List<Fragment> fragments;

	/** Whether there are loops and tables. */
	private final boolean large;

	private final Words words;

	/** Functions and constants of each policy, by their names. */
	private final List<Map<String, Function>> functions = new ArrayList<>();

	/** Those that something has named. */
	private final StringBuilder declarations = new StringBuilder();

	/** The different ones with the same names: their texts with their numbers. */
	private final Map<List<String>, Map<String, Integer>> namesakes = new HashMap<>();

	/** The largest number of each name, which fragments may declare beside others. */
	private final Map<String, Integer> numbers = new HashMap<>();

	/**
	 * What something is written for.
	 *
	 * @param fragment whose words it has
	 * @param alone whether the request is alone in its call
	 * @param p which policy, from 0 on; -1 for none
	 * @param slot which policy and identifier, from 0 on; -1 for none
	 * @param limit which limit, from 1 on; 0 for all
	 * @param reset whether it is not about the cost, but about one more than remains
	 */
	record Place(Fragment fragment, boolean alone, int p, int slot, int limit, boolean reset) {

		Place slot(int p, int slot) {
			return new Place(this.fragment, this.alone, p, slot, 0, false);
		}

		Place limit(int limit) {
			return new Place(this.fragment, this.alone, this.p, this.slot, limit, this.reset);
		}

	}

	/** A function, or constants. */
	private static final class Function {

		private final List<String> names;

		private final List<Consumer<StringBuilder>> lines = new ArrayList<>();

		/** What makes the names different from others; {@code null} if not written. */
		private @Nullable String number;

		Function(List<String> names) {
			this.names = names;
		}

	}

	private Composer(Shape shape, List<Fragment> fragments, boolean large) {
		this.fragments = fragments;
		this.large = large;
		this.words = new Words(shape, fragments, large);
		for (int p = 0; p < fragments.size(); p++) {
			this.functions.add(functions(new Place(fragments.get(p), false, p, -1, 0, false)));
		}
	}

	/**
	 * Composes a script.
	 * @throws IllegalArgumentException if a fragment is missing, or not of the form
	 */
	static Script compose(Shape shape) {
		List<Fragment> fragments = shape.policies()
			.stream()
			.map((policy) -> Fragment.read(policy.neighbour(), policy.fragment()))
			.toList();
		Composer composer = new Composer(shape, fragments, shape.slots() > MOST_SLOTS);
		String lua = composer.script();
		if (!composer.large && composer.isTooLarge()) {
			composer = new Composer(shape, fragments, true);
			lua = composer.script();
		}
		return new Script(lua, composer.words.metadata, shape.work());
	}

	private boolean isTooLarge() {
		int around = this.words.libraries.size();
		for (Map.Entry<List<String>, Map<String, Integer>> names : this.namesakes.entrySet()) {
			around += names.getKey().size() * names.getValue().size();
		}
		return around > MOST_FUNCTIONS || around + this.words.locals.size() + this.words.numbers.size() > MOST_LOCALS;
	}

	private String script() {
		StringBuilder body = new StringBuilder();
		write(Words.REQUEST.section("script"), new Place(Words.REQUEST, false, -1, -1, 0, false), body);
		StringBuilder lua = new StringBuilder();
		for (String name : this.words.libraries) {
			lua.append("local ").append(name.replace('.', '_')).append(" = ").append(name).append('\n');
		}
		lua.append(this.large ? "local f_ = {}\n" : "").append(this.declarations).append(body);
		return lua.toString().replace(LOCALS, String.join(", ", this.words.locals));
	}

	private Map<String, Function> functions(Place place) {
		Map<String, Function> functions = new HashMap<>();
		Deque<Function> last = new ArrayDeque<>(List.of(new Function(List.of())));
		this.words.takeLines(place.fragment().section("functions"), place, (line, each) -> {
			if (!line.declared().isEmpty()) {
				last.push(new Function(line.declared()));
				line.declared().forEach((name) -> functions.put(name, last.element()));
			}
			last.element().lines.add((lua) -> write(line, line.tokens(), each, lua));
		});
		return functions;
	}

	private void write(List<Line> lines, Place place, StringBuilder lua) {
		this.words.takeLines(lines, place, (line, each) -> {
			if (line.instruction().isEmpty()) {
				write(line, line.tokens(), each, lua);
			}
			else {
				section(line.about(), each, lua);
			}
		});
	}

	private void write(Line line, List<String> tokens, Place place, StringBuilder lua) {
		for (int i = 0; i < tokens.size(); i++) {
			String token = tokens.get(i);
			char first = token.charAt(0);
			if (token.equals("each(") || token.equals("every_(")) {
				int end = closing(line, tokens, i, place);
				String separator = "";
				for (Place each : this.words.places(token.substring(0, token.length() - 1), place)) {
					write(line, tokens.subList(i + 1, end), each, lua.append(separator));
					separator = ", ";
				}
				i = end;
			}
			else if (first == '\'' || first == '"') {
				lua.append(REPEATED.matcher(token)
					.replaceAll((each) -> Matcher
						.quoteReplacement(each.group(2).repeat(this.words.places(each.group(1), place).size()))));
			}
			else {
				lua.append((Character.isLetter(first) || first == '_') ? meaning(token, line, place) : token);
			}
		}
	}

	/** Where the bracket is closed that a repetition begins with. */
	private static int closing(Line line, List<String> tokens, int begin, Place place) {
		int open = 1;
		for (int i = begin + 1; i < tokens.size(); i++) {
			open += tokens.get(i).equals("(") ? 1 : tokens.get(i).equals(")") ? -1 : 0;
			if (open == 0) {
				return i;
			}
		}
		throw place.fragment().invalid(line.number(), "a bracket is not closed.");
	}

	private String meaning(String word, Line line, Place place) {
		Function function = (place.fragment() != Words.REQUEST) ? this.functions.get(place.p()).get(word) : null;
		return (function != null) ? (this.large ? "f_." : "") + word + '_' + number(function)
				: this.words.meaning(word, line, place);
	}

	/**
	 * Functions are written when they are named first, behind those that they name, and
	 * once for all policies that have the same.
	 */
	private String number(Function function) {
		if (function.number == null) {
			function.number = OWN_NUMBER;
			StringBuilder lua = new StringBuilder();
			function.lines.forEach((line) -> line.accept(lua));
			String text = this.large ? lua.substring("local ".length()) : lua.toString();
			Map<String, Integer> namesakes = this.namesakes.computeIfAbsent(function.names, (names) -> new HashMap<>());
			Integer number = namesakes.get(text);
			if (number == null) {
				number = 1 + function.names.stream()
					.mapToInt((name) -> this.numbers.getOrDefault(name, 0))
					.max()
					.orElse(0);
				namesakes.put(text, number);
				for (String name : function.names) {
					this.numbers.put(name, number);
				}
				this.declarations.append(text.replace(OWN_NUMBER, number.toString()));
			}
			function.number = number.toString();
		}
		return function.number;
	}

	/** Writes a section of the request, or of the fragment of a policy. */
	private void section(String name, Place place, StringBuilder lua) {
		lua.append("do\n");
		if (name.equals("alone")) {
			write(Words.REQUEST.section("request"), new Place(Words.REQUEST, true, -1, -1, 0, false), lua);
		}
		else if (Words.REQUEST.sections().containsKey(name)) {
			write(Words.REQUEST.section(name), place, lua);
		}
		else {
			Fragment fragment = this.fragments.get(place.p());
			boolean reset = name.equals("reset");
			write(fragment.section(reset ? "wait" : name),
					new Place(fragment, place.alone(), place.p(), place.slot(), place.limit(), reset), lua);
		}
		lua.append("end\n");
	}

}
