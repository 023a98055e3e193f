package io.github.ratelimit.redis.script;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.redis.script.Node.Block;
import io.github.ratelimit.redis.script.Node.Line;

/**
 * The Lua of an algorithm, in the form that the documentation of this package describes.
 *
 * @param place what messages name it by
 * @param slotNames variables of each policy and identifier
 * @param limitNames variables of each limit of these
 * @param argumentNames what is told for each limit that needs it
 * @param functionNames what the functions declare
 * @param sections lines by the name of their section
 */
record Fragment(String place, Set<String> slotNames, Set<String> limitNames, List<String> argumentNames,
		Set<String> functionNames, Map<String, List<Node>> sections) {

	private static final Set<String> REQUIRED = Set.of("load", "wait", "add", "refund", "remaining", "ttl", "state");

	private static final Set<String> OPTIONAL = Set.of("functions", "history");

	private static final Pattern SECTION = Pattern.compile("--- (.*)");

	private static final Pattern NAMES = Pattern.compile("-- @(\\w+) (.*)");

	private static final Pattern CONTROL = Pattern
		.compile("--\\[(?:(each limit|last limit)|if (not )?([A-Z0-9_]+)|(else)|(end))\\]");

	/** What the declaration of a function or of constants begins with. */
	static final Pattern DECLARATION = Pattern.compile("local (?:function )?([\\w, ]+?)(?:\\(| =)");

	private static final Pattern LOCALS = Pattern.compile("local ([\\w, ]+)");

	/**
	 * Reads a fragment.
	 * @param neighbour the class beside which it is
	 * @param name name of the resource, without {@code .lua}
	 * @throws IllegalArgumentException if there is none, or it is not of the form
	 */
	static Fragment read(Class<?> neighbour, String name) {
		String file = name + ".lua";
		return parse(neighbour.getPackageName().replace('.', '/') + '/' + file, text(neighbour, file));
	}

	/** Reads a resource. */
	static String text(Class<?> neighbour, String file) {
		try (InputStream resource = neighbour.getResourceAsStream(file)) {
			if (resource == null) {
				throw new IllegalArgumentException("Invalid algorithm (%s): there is no script %s beside it."
					.formatted(neighbour.getName(), file));
			}
			return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static Fragment parse(String place, String text) {
		return new Parser(place).parse(text.lines().toList());
	}

	IllegalArgumentException invalid(int line, String problem) {
		return invalid(this.place, line, problem);
	}

	private static IllegalArgumentException invalid(String place, int line, String problem) {
		return new IllegalArgumentException("Invalid script (%s, line %d): %s".formatted(place, line, problem));
	}

	/** Takes in one line after the other. */
	private static final class Parser {

		private final String place;

		private final Map<String, Set<String>> names = Map.of("slot", new LinkedHashSet<>(), "limit",
				new LinkedHashSet<>(), "argument", new LinkedHashSet<>());

		private final Set<String> functions = new HashSet<>();

		private final Map<String, List<Node>> sections = new HashMap<>();

		private final Deque<Block> open = new ArrayDeque<>();

		private String section = "";

		private List<Node> nodes = new ArrayList<>();

		private int number;

		Parser(String place) {
			this.place = place;
		}

		Fragment parse(List<String> lines) {
			for (String line : lines) {
				this.number++;
				take(line.strip(), line);
			}
			endSection();
			for (String name : REQUIRED) {
				if (!this.sections.containsKey(name)) {
					throw invalid("there is no section '%s'.".formatted(name));
				}
			}
			return new Fragment(this.place, names("slot"), names("limit"), List.copyOf(names("argument")),
					this.functions, this.sections);
		}

		private void take(String text, String line) {
			Matcher control = CONTROL.matcher(text);
			Matcher begin = SECTION.matcher(line);
			if (begin.matches()) {
				endSection();
				beginSection(begin.group(1).strip());
			}
			else if (this.section.isEmpty()) {
				header(line);
			}
			else if (control.matches()) {
				control(control);
			}
			else if (text.startsWith("--[")) {
				throw invalid("'%s' is no instruction.".formatted(text));
			}
			else if (!text.isEmpty() && !text.startsWith("--")) {
				code(text, line);
			}
		}

		private void header(String line) {
			Matcher declared = NAMES.matcher(line);
			if (declared.matches()) {
				Set<String> kind = this.names.get(declared.group(1));
				if (kind == null) {
					throw invalid("'@%s' is none of @slot, @limit and @argument.".formatted(declared.group(1)));
				}
				for (String name : declared.group(2).split(",", -1)) {
					if (!name.strip().matches("[a-z_]\\w*") || isDeclared(name.strip())) {
						throw invalid("'%s' is no name, or stands twice.".formatted(name.strip()));
					}
					kind.add(name.strip());
				}
			}
			else if (!line.isBlank() && !line.startsWith("--")) {
				throw invalid("there is code before the first section.");
			}
		}

		private void beginSection(String name) {
			if (!REQUIRED.contains(name) && !OPTIONAL.contains(name)) {
				throw invalid("there is no such section as '%s'.".formatted(name));
			}
			this.nodes = new ArrayList<>();
			if (this.sections.put(name, this.nodes) != null) {
				throw invalid("the section '%s' stands twice.".formatted(name));
			}
			this.section = name;
		}

		private void endSection() {
			if (!this.open.isEmpty()) {
				throw invalid("there is no end of what began in line %d.".formatted(this.open.peek().number()));
			}
		}

		private void control(Matcher control) {
			if (control.group(5) != null || control.group(4) != null) {
				if (this.open.isEmpty() || (control.group(4) != null && !this.open.peek().beginElse())) {
					throw invalid("nothing began that this belongs to.");
				}
				if (control.group(5) != null) {
					this.open.pop();
				}
				return;
			}
			Block block = new Block(this.number, (control.group(1) != null) ? control.group(1) : "if",
					(control.group(3) != null) ? control.group(3) : "", control.group(2) != null);
			add(block);
			this.open.push(block);
		}

		private void code(String text, String line) {
			if (this.section.equals("functions")) {
				Matcher function = DECLARATION.matcher(line);
				if (function.lookingAt()) {
					this.functions.addAll(List.of(function.group(1).split(", ")));
				}
			}
			else {
				Matcher locals = LOCALS.matcher(text);
				while (locals.find()) {
					for (String name : locals.group(1).split("[, ]+")) {
						if (isDeclared(name)) {
							throw invalid("'%s' is a variable already, and must not be local.".formatted(name));
						}
					}
				}
			}
			add(new Line(this.number, text));
		}

		private void add(Node node) {
			(this.open.isEmpty() ? this.nodes : this.open.peek().nodes()).add(node);
		}

		private boolean isDeclared(String name) {
			return this.names.values().stream().anyMatch((kind) -> kind.contains(name));
		}

		private Set<String> names(String kind) {
			Set<String> names = this.names.get(kind);
			return (names != null) ? names : Set.of();
		}

		private IllegalArgumentException invalid(String problem) {
			return Fragment.invalid(this.place, this.number, problem);
		}

	}

}
