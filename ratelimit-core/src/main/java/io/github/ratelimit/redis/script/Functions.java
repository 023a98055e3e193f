package io.github.ratelimit.redis.script;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The functions and constants of the fragments. They are written once for all policies
 * that have the same, and only if something needs them, because making them takes time.
 */
final class Functions {

	/** A function of Lua can refer to 60 locals around it. */
	private static final int MOST_LOCALS = 40;

	private static final Pattern WORD = Pattern.compile("\\w+");

	private static final Pattern LOCAL_FIELD = Pattern.compile("^local (function )?(?=f_\\.)", Pattern.MULTILINE);

	private final Shape shape;

	private final List<Fragment> fragments;

	private final Names names;

	private final Set<String> libraries;

	/** Numbers of the functions, by policy. */
	private final int[] numbers;

	private final List<Declaration> declarations = new ArrayList<>();

	/** A function, or constants. */
	private record Declaration(List<String> names, String lua) {

	}

	Functions(Shape shape, List<Fragment> fragments, Names names, Set<String> libraries) {
		this.shape = shape;
		this.fragments = fragments;
		this.names = names;
		this.libraries = libraries;
		this.numbers = new int[fragments.size()];
		Map<String, Integer> known = new HashMap<>();
		for (int p = 0; p < fragments.size(); p++) {
			int number = known.size() + 1;
			this.numbers[p] = known.computeIfAbsent(write(p, 0), (lua) -> number);
			if (known.size() == number) {
				declare(p, number);
			}
		}
	}

	/** The number that the names of a policy's functions end with. */
	int number(int p) {
		return this.numbers[p];
	}

	private String write(int p, int number) {
		Fragment fragment = this.fragments.get(p);
		StringBuilder lua = new StringBuilder();
		new Template(this.shape.policies().get(p).limits(),
				new SlotWords(this.shape, fragment, this.names, p, -1, number, Map.of(), this.libraries))
			.write(fragment.sections().getOrDefault("functions", List.of()), 0, lua);
		return lua.toString();
	}

	/** Takes functions and constants apart. */
	private void declare(int p, int number) {
		Set<String> declared = this.fragments.get(p)
			.functionNames()
			.stream()
			.map((name) -> name + "_" + number)
			.collect(Collectors.toSet());
		List<String> names = List.of();
		StringBuilder lua = new StringBuilder();
		for (String line : write(p, number).lines().toList()) {
			Matcher begin = Fragment.DECLARATION.matcher(line);
			if (begin.lookingAt() && declared.containsAll(List.of(begin.group(1).split(", ")))) {
				this.declarations.add(new Declaration(names, lua.toString()));
				names = List.of(begin.group(1).split(", "));
				lua.setLength(0);
			}
			lua.append(line).append('\n');
		}
		this.declarations.add(new Declaration(names, lua.toString()));
	}

	/**
	 * Puts in front of a script what it needs. If that is much, it is kept in a table.
	 */
	String before(String script) {
		Set<String> used = words(script);
		Deque<Declaration> kept = new ArrayDeque<>();
		for (int i = this.declarations.size() - 1; i >= 0; i--) {
			Declaration declaration = this.declarations.get(i);
			if (declaration.names.stream().anyMatch(used::contains)) {
				kept.addFirst(declaration);
				used.addAll(words(declaration.lua));
			}
		}
		String lua = kept.stream().map(Declaration::lua).collect(Collectors.joining()) + script;
		Set<String> names = kept.stream()
			.map(Declaration::names)
			.flatMap(Collection::stream)
			.collect(Collectors.toSet());
		if (this.libraries.size() + names.size() <= MOST_LOCALS) {
			return lua;
		}
		String fields = WORD.matcher(lua)
			.replaceAll((word) -> (names.contains(word.group()) ? "f_." : "") + word.group());
		return "local f_ = {}\n" + LOCAL_FIELD.matcher(fields).replaceAll("$1");
	}

	private static Set<String> words(String lua) {
		return WORD.matcher(lua).results().map(MatchResult::group).collect(Collectors.toCollection(HashSet::new));
	}

}
