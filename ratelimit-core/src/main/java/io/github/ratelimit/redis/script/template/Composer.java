package io.github.ratelimit.redis.script.template;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.redis.script.Script;
import io.github.ratelimit.redis.script.Shape;

/**
 * Composes the script of a shape: {@code request.lua}, and in it the fragments of the
 * algorithms. Everything is written for each policy and identifier, and its variables and
 * functions are locals. Where these would be too many for Lua, there are loops over the
 * identifiers of a policy, and tables.
 */
public final class Composer {

	/** With more policies and identifiers than this, a script has loops. */
	private static final int MOST_SLOTS = 8;

	/** A function of Lua can refer to 60 locals around it. */
	private static final int MOST_FUNCTIONS = 50;

	/** Lua has 200 locals in a function, and 250 registers. */
	private static final int MOST_LOCALS = 150;

	private static final String UNKNOWN = "\0";

	private static final Pattern DECLARATION = Pattern.compile("local (?:function )?([\\w, ]+?)(?:\\(| =|\n)");

	private static final Pattern UNNUMBERED = Pattern.compile("(?:f_\\.)?\\b(\\w+)_" + UNKNOWN);

	private static final Pattern LIBRARY = Pattern.compile("(string|math|table|struct|redis)_(\\w+)_");

	private static final Predicate<String> VARIABLE = Pattern.compile("s\\d+_\\w+").asMatchPredicate();

	private static final Pattern WORD = Pattern.compile("\\w+");

	private final Shape shape;

	private final boolean large;

	/** All functions and constants, by their Lua without their numbers. */
	private final Map<String, Function> functions = new LinkedHashMap<>();

	private record Function(int number, List<String> names, String lua) {

	}

	private Composer(Shape shape, boolean large) {
		this.shape = shape;
		this.large = large;
	}

	public static Script compose(Shape shape) {
		return new Composer(shape, shape.slots() > MOST_SLOTS).compose();
	}

	private Script compose() {
		ContextBuilder contexts = new ContextBuilder(this.shape, this.large);
		contexts.policies.forEach(this::declare);
		String body = contexts.request().section("script");
		Set<String> used = words(body);
		Set<String> locals = new LinkedHashSet<>(List.of("reply"));
		used.stream().filter(VARIABLE).forEach(locals::add);
		List<Function> named = named(used);
		List<String> libraries = used.stream().filter(LIBRARY.asMatchPredicate()).sorted().toList();
		int around = libraries.size() + named.stream().mapToInt((function) -> function.names().size()).sum();
		if (!this.large
				&& (around > MOST_FUNCTIONS || around + locals.size() + contexts.numbers.size() > MOST_LOCALS)) {
			return new Composer(this.shape, true).compose();
		}
		String functions = named.stream().map(Function::lua).collect(Collectors.joining());
		String declared = libraries.stream()
			.map((name) -> LIBRARY.matcher(name).replaceFirst("local $0 = $1.$2\n"))
			.collect(Collectors.joining());
		String lua = declared + (this.large ? "local f_ = {}\n" : "") + functions
				+ body.replace("LOCALS_", String.join(", ", locals));
		// States with metadata are read and written as a whole.
		int work = contexts.hasMetadata() ? 16 * this.shape.work() : this.shape.work();
		return new Script(lua.replaceAll("(?m)^ +", ""), contexts.numbers.keySet(), work);
	}

	/** Numbers the functions of a policy. Policies with the same functions share them. */
	private void declare(Context policy) {
		String prefix = this.large ? "f_." : "";
		List<List<String>> names = declarations(policy).map(Composer::names).toList();
		names.forEach((some) -> some.forEach((name) -> define(policy, name, prefix + name + '_' + UNKNOWN)));
		Iterator<List<String>> declared = names.iterator();
		declarations(policy).forEach((lua) -> {
			List<String> own = declared.next();
			String text = UNNUMBERED.matcher(lua).replaceAll((name) -> policy.words().get(name.group(1)));
			int number = this.functions.computeIfAbsent(text, (added) -> function(own, text)).number();
			own.forEach((name) -> define(policy, name, prefix + name + '_' + number));
		});
	}

	private static void define(Context policy, String name, String meaning) {
		policy.words().put(name, meaning);
		policy.limits().forEach((limit) -> limit.words().put(name, meaning));
	}

	private static Stream<String> declarations(Context policy) {
		return Stream.of(policy.section("functions").split("(?m)^(?=local )"));
	}

	private static List<String> names(String declaration) {
		Matcher matcher = DECLARATION.matcher(declaration);
		return matcher.lookingAt() ? List.of(matcher.group(1).split(", ")) : List.of();
	}

	private Function function(List<String> names, String lua) {
		int number = this.functions.size() + 1;
		String numbered = lua.replace(UNKNOWN, Integer.toString(number));
		return new Function(number, names.stream().map((name) -> name + '_' + number).toList(),
				this.large ? numbered.replaceFirst("local ", "") : numbered);
	}

	private List<Function> named(Set<String> used) {
		LinkedList<Function> named = new LinkedList<>();
		List<Function> reversed = new ArrayList<>(this.functions.values());
		Collections.reverse(reversed);
		for (Function function : reversed) {
			if (!Collections.disjoint(function.names(), used)) {
				named.addFirst(function);
				used.addAll(words(function.lua()));
			}
		}
		return named;
	}

	private static Set<String> words(String lua) {
		Set<String> words = new LinkedHashSet<>();
		WORD.matcher(lua).results().map(MatchResult::group).forEach(words::add);
		return words;
	}

}
