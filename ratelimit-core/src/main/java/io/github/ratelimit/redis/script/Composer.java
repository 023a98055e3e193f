package io.github.ratelimit.redis.script;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.redis.script.Node.Choice;
import io.github.ratelimit.redis.script.Node.Declaration;
import io.github.ratelimit.redis.script.Node.Repeat;
import io.github.ratelimit.redis.script.Node.Section;
import io.github.ratelimit.redis.script.Node.Text;
import io.github.ratelimit.redis.script.Node.Word;
import io.github.ratelimit.redis.script.Words.Place;
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

	private final Shape shape;

	private final List<Fragment> fragments;

	/** Whether there are loops and tables. */
	private final boolean large;

	private final Words words;

	/** Functions and constants of each policy, by their names. */
	private final List<Map<String, Function>> functions = new ArrayList<>();

	/** Those that something has named. */
	private final StringBuilder declarations = new StringBuilder();

	/** The different ones of a name. */
	private final Map<List<String>, List<String>> namesakes = new HashMap<>();

	/** How many names were declared. */
	private int declared;

	/** A function, or constants. */
	private static final class Function {

		private final List<String> names;

		private final List<Node> nodes = new ArrayList<>();

		/** What makes the names different from others; {@code null} if not written. */
		private @Nullable String number;

		Function(List<String> names) {
			this.names = names;
		}

	}

	private Composer(Shape shape, List<Fragment> fragments, boolean large) {
		this.shape = shape;
		this.fragments = fragments;
		this.large = large;
		this.words = new Words(shape, fragments, large);
		for (int p = 0; p < fragments.size(); p++) {
			Place place = new Place(fragments.get(p), false, p, -1, 0, false);
			this.functions.add(functions(chosen(place.fragment().section("functions"), place)));
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
		return new Script(lua, composer.words.haveMetadata(), shape.work());
	}

	private boolean isTooLarge() {
		int around = this.words.libraries().size() + this.declared;
		return around > MOST_FUNCTIONS || around + this.words.locals().size() + this.words.numbers() > MOST_LOCALS;
	}

	private String script() {
		StringBuilder body = new StringBuilder();
		write(Words.REQUEST.section("script"), new Place(Words.REQUEST, false, -1, -1, 0, false), body);
		StringBuilder lua = new StringBuilder();
		this.words.libraries().forEach((name) -> lua.append("local %s = %s\n".formatted(name.replace('.', '_'), name)));
		lua.append(this.large ? "local f_ = {}\n" : "").append(this.declarations).append(body);
		return lua.toString().replace(LOCALS, String.join(", ", this.words.locals()));
	}

	/** Takes functions and constants apart. */
	private static Map<String, Function> functions(List<Node> nodes) {
		Map<String, Function> functions = new HashMap<>();
		Function last = new Function(List.of());
		for (Node node : nodes) {
			if (node instanceof Declaration declaration) {
				last = new Function(declaration.names());
				for (String name : last.names) {
					functions.put(name, last);
				}
			}
			last.nodes.add(node);
		}
		return functions;
	}

	/** Leaves out what is not so with the constants that there are. */
	private List<Node> chosen(List<Node> nodes, Place place) {
		List<Node> chosen = new ArrayList<>();
		for (Node node : nodes) {
			if (node instanceof Choice choice) {
				chosen.addAll(chosen(this.words.chosen(choice, place), place));
			}
			else {
				chosen.add(node);
			}
		}
		return chosen;
	}

	private void write(List<Node> nodes, Place place, StringBuilder lua) {
		for (Node node : nodes) {
			if (node instanceof Text text) {
				lua.append(text.text());
			}
			else if (node instanceof Word word) {
				lua.append(meaning(word, place));
			}
			else if (node instanceof Choice choice) {
				write(this.words.chosen(choice, place), place, lua);
			}
			else if (node instanceof Repeat repeat) {
				write(repeat, place, lua);
			}
			else if (node instanceof Section section) {
				write(section, place, lua);
			}
		}
	}

	private String meaning(Word word, Place place) {
		Function function = (place.fragment() != Words.REQUEST) ? this.functions.get(place.p()).get(word.word()) : null;
		return (function != null) ? (this.large ? "f_." : "") + word.word() + '_' + number(function, place)
				: this.words.meaning(word, place);
	}

	/**
	 * Functions are written when they are named first, behind those that they name, and
	 * once for all policies that have the same.
	 */
	private String number(Function function, Place place) {
		if (function.number == null) {
			function.number = OWN_NUMBER;
			StringBuilder lua = new StringBuilder();
			write(function.nodes, place.slot(place.p(), -1), lua);
			String text = this.large ? lua.substring("local ".length()) : lua.toString();
			List<String> namesakes = this.namesakes.computeIfAbsent(function.names, (names) -> new ArrayList<>());
			if (!namesakes.contains(text)) {
				namesakes.add(text);
				this.declared += function.names.size();
				this.declarations.append(text.replace(OWN_NUMBER, Integer.toString(namesakes.size())));
			}
			function.number = Integer.toString(namesakes.indexOf(text) + 1);
		}
		return function.number;
	}

	/** Writes a section of the request, or of the fragment of a policy. */
	private void write(Section section, Place place, StringBuilder lua) {
		String name = section.name();
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

	private void write(Repeat repeat, Place place, StringBuilder lua) {
		boolean isFirst = true;
		for (Place each : places(repeat.each(), place)) {
			if (repeat.separator() == null) {
				lua.append((this.large && repeat.each().equals("each slot_")) ? loop(each) : "do\n");
				write(repeat.nodes(), each, lua);
				lua.append("end\n");
			}
			else {
				lua.append(isFirst ? "" : repeat.separator());
				write(repeat.nodes(), each, lua);
			}
			isFirst = false;
		}
	}

	private String loop(Place place) {
		return "for s_ = %d, %d do\nlocal v_ = x_[s_]\n".formatted(place.slot() + 1,
				place.slot() + this.shape.blocks().get(place.p()).size());
	}

	private List<Place> places(String each, Place place) {
		List<Place> places = new ArrayList<>();
		if (each.equals("every_")) {
			places("each slot_", place).forEach((slot) -> places.addAll(places("each", slot)));
		}
		else if (each.equals("each slot_")) {
			int slot = 0;
			for (int p = 0; p < this.fragments.size(); p++) {
				int identifiers = this.shape.blocks().get(p).size();
				for (int i = 0; i < (this.large ? 1 : identifiers); i++) {
					places.add(place.slot(p, slot + i));
				}
				slot += identifiers;
			}
		}
		else {
			int limits = this.shape.policies().get(place.p()).limits();
			for (int i = each.equals("last limit") ? limits : 1; i <= limits; i++) {
				places.add(place.limit(i));
			}
		}
		return places;
	}

}
