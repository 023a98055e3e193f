package io.github.ratelimit.redis.script;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The Lua of an algorithm, in the form that the documentation of this package describes,
 * or what all requests have around it.
 *
 * @param place what messages name it by
 * @param names what each name is that is declared: {@code slot} for a variable of each
 * policy and identifier, {@code limit} for one of each limit of these, {@code argument}
 * for what is told for each limit that needs it
 * @param sections what stands in the sections, by their names
 */
record Fragment(String place, Map<String, String> names, Map<String, List<Line>> sections) {

	/**
	 * A line of a section.
	 *
	 * @param number where it stands in the file
	 * @param instruction what it tells the composer; empty if it is Lua
	 * @param about the constant or the section that the instruction is about
	 * @param declared what is declared there, if it begins a function or constants
	 * @param tokens Lua: words, strings, brackets, begins of repetitions, and what stands
	 * between them
	 */
	record Line(int number, String instruction, String about, List<String> declared, List<String> tokens) {

		/** Lua of the composer. */
		static Line of(String lua) {
			return new Line(0, "", "", List.of(), List.of(lua));
		}

	}

	private static final Set<String> KINDS = Set.of("slot", "limit", "argument");

	private static final Set<String> OF_ALGORITHM = Set.of("load", "wait", "add", "refund", "remaining", "ttl",
			"state");

	private static final Set<String> OPTIONAL = Set.of("functions", "history");

	private static final Set<String> OF_REQUEST = Set.of("script", "request", "decide", "acquire", "save");

	/** What was read, by the class beside which it is, and by name. */
	private static final ClassValue<Map<String, Fragment>> READ = new ClassValue<>() {

		@Override
		protected Map<String, Fragment> computeValue(Class<?> neighbour) {
			return new ConcurrentHashMap<>();
		}

	};

	/**
	 * Reads the fragment of an algorithm beside a class, by its name without {@code
	 * .lua}.
	 * @throws IllegalArgumentException if there is none, or it is not of the form
	 */
	static Fragment read(Class<?> neighbour, String name) {
		String file = name + ".lua";
		return READ.get(neighbour)
			.computeIfAbsent(name, (fragment) -> parse(neighbour.getPackageName().replace('.', '/') + '/' + file,
					text(neighbour, file)));
	}

	static Fragment parse(String place, String text) {
		return new Parser(place, OF_ALGORITHM).parse(text);
	}

	static Fragment ofRequest() {
		return new Parser("request.lua", OF_REQUEST).parse(text(Fragment.class, "request.lua"));
	}

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

	List<String> names(String kind) {
		return this.names.keySet().stream().filter((name) -> kind.equals(this.names.get(name))).toList();
	}

	/** What stands in a section; nothing if there is none. */
	List<Line> section(String name) {
		return this.sections.getOrDefault(name, List.of());
	}

	IllegalArgumentException invalid(int line, String problem) {
		return invalid(this.place, line, problem);
	}

	private static IllegalArgumentException invalid(String place, int line, String problem) {
		return new IllegalArgumentException("Invalid script (%s, line %d): %s".formatted(place, line, problem));
	}

	private static final class Parser {

		private static final String SECTION = "--- ";

		private static final Pattern NAMES = Pattern.compile("-- @(\\w+) (.*)");

		private static final Pattern INSTRUCTION = Pattern
			.compile("--\\[(each (?:limit|slot_|decided_|shadow_)|last limit|section_(?= \\w)"
					+ "|if(?: not)?(?= [A-Z0-9])|else|end) ?(\\w*)]");

		/** What the declaration of a function or of constants begins with. */
		private static final Pattern DECLARATION = Pattern.compile("local (?:function )?([\\w, ]+?)(?:\\(| =)");

		private static final Pattern LOCALS = Pattern.compile("local ([\\w, ]+)");

		/** Begins of repetitions, strings, comments, words and fields, brackets. */
		private static final Pattern TOKEN = Pattern
			.compile("(?:each|every_)\\(|'(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\"|(--.*)"
					+ "|(\\.*)((?:(?:string|math|table|struct|redis)\\.)?\\w+)|[()]");

		private final String place;

		private final Set<String> required;

		private final Map<String, String> names = new LinkedHashMap<>();

		private final Map<String, List<Line>> sections = new HashMap<>();

		/** The instructions that have no end yet. */
		private final Deque<Line> open = new ArrayDeque<>();

		private String section = "";

		private List<Line> lines = new ArrayList<>();

		private int number;

		Parser(String place, Set<String> required) {
			this.place = place;
			this.required = required;
		}

		Fragment parse(String text) {
			text.lines().forEach(this::take);
			endSection();
			for (String name : this.required) {
				if (!this.sections.containsKey(name)) {
					throw invalid("there is no section '%s'.".formatted(name));
				}
			}
			return new Fragment(this.place, this.names, this.sections);
		}

		private void take(String line) {
			this.number++;
			String text = line.strip();
			if (line.startsWith(SECTION)) {
				endSection();
				beginSection(line.substring(SECTION.length()).strip());
			}
			else if (this.section.isEmpty()) {
				header(line);
			}
			else if (text.startsWith("--[")) {
				instruction(text);
			}
			else if (!text.isEmpty() && !text.startsWith("--")) {
				this.lines.add(new Line(this.number, "", "", declared(line), tokens(text)));
			}
		}

		private void header(String line) {
			Matcher declared = NAMES.matcher(line);
			if (declared.matches()) {
				if (!KINDS.contains(declared.group(1))) {
					throw invalid("'@%s' is none of @slot, @limit and @argument.".formatted(declared.group(1)));
				}
				for (String name : declared.group(2).split(",", -1)) {
					if (!name.strip().matches("[a-z_]\\w*")
							|| this.names.put(name.strip(), declared.group(1)) != null) {
						throw invalid("'%s' is no name, or stands twice.".formatted(name.strip()));
					}
				}
			}
			else if (!line.isBlank() && !line.startsWith("--")) {
				throw invalid("there is code before the first section.");
			}
		}

		private void beginSection(String name) {
			if (!this.required.contains(name) && !OPTIONAL.contains(name)) {
				throw invalid("there is no such section as '%s'.".formatted(name));
			}
			this.lines = new ArrayList<>();
			if (this.sections.put(name, this.lines) != null) {
				throw invalid("the section '%s' stands twice.".formatted(name));
			}
			this.section = name;
		}

		private void endSection() {
			if (!this.open.isEmpty()) {
				throw invalid("there is no end of what began in line %d.".formatted(this.open.peek().number()));
			}
		}

		private void instruction(String text) {
			Matcher matcher = INSTRUCTION.matcher(text);
			if (!matcher.matches()) {
				throw invalid("'%s' is no instruction.".formatted(text));
			}
			String instruction = matcher.group(1);
			Line line = new Line(this.number, instruction, matcher.group(2), List.of(), List.of());
			if (instruction.equals("else") || instruction.equals("end")) {
				Line begin = this.open.poll();
				if (begin == null || (instruction.equals("else") && !begin.instruction().startsWith("if"))) {
					throw invalid("nothing began that this belongs to.");
				}
			}
			if (!instruction.equals("end") && !instruction.equals("section_")) {
				this.open.push(line);
			}
			this.lines.add(line);
		}

		/** What a line declares that others may name. */
		private List<String> declared(String line) {
			if (this.section.equals("functions")) {
				Matcher declaration = DECLARATION.matcher(line);
				return declaration.lookingAt() ? List.of(declaration.group(1).split(", ")) : List.of();
			}
			Matcher locals = LOCALS.matcher(line);
			while (locals.find()) {
				for (String name : locals.group(1).split("[, ]+")) {
					if (this.names.containsKey(name)) {
						throw invalid("'%s' is a variable already, and must not be local.".formatted(name));
					}
				}
			}
			return List.of();
		}

		private static List<String> tokens(String line) {
			List<String> tokens = new ArrayList<>();
			Matcher token = TOKEN.matcher(line);
			int at = 0;
			while (token.find()) {
				tokens.add(line.substring(at, token.start()));
				boolean isBehindText = "..".equals(token.group(2));
				tokens.add(isBehindText ? ".." : (token.group(1) == null) ? token.group() : "");
				tokens.add(isBehindText ? token.group(3) : "");
				at = token.end();
			}
			tokens.add(line.substring(at) + '\n');
			tokens.removeIf(String::isEmpty);
			return tokens;
		}

		private IllegalArgumentException invalid(String problem) {
			return Fragment.invalid(this.place, this.number, problem);
		}

	}

}
