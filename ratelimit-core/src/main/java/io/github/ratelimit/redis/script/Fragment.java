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

import io.github.ratelimit.redis.script.Node.Choice;
import io.github.ratelimit.redis.script.Node.Declaration;
import io.github.ratelimit.redis.script.Node.Repeat;
import io.github.ratelimit.redis.script.Node.Section;
import io.github.ratelimit.redis.script.Node.Text;
import io.github.ratelimit.redis.script.Node.Word;
import org.jspecify.annotations.Nullable;

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
record Fragment(String place, Map<String, String> names, Map<String, List<Node>> sections) {

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
	 * Reads the fragment of an algorithm.
	 * @param neighbour the class beside which it is
	 * @param name name of the resource, without {@code .lua}
	 * @throws IllegalArgumentException if there is none, or it is not of the form
	 */
	static Fragment read(Class<?> neighbour, String name) {
		String file = name + ".lua";
		return READ.get(neighbour)
			.computeIfAbsent(name, (fragment) -> parse(neighbour.getPackageName().replace('.', '/') + '/' + file,
					text(neighbour, file)));
	}

	static Fragment parse(String place, String text) {
		return new Parser(place, OF_ALGORITHM, OPTIONAL).parse(text);
	}

	/** Reads what all requests have. */
	static Fragment ofRequest() {
		return new Parser("request.lua", OF_REQUEST, Set.of()).parse(text(Fragment.class, "request.lua"));
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

	/** What is declared of a kind, in this order. */
	List<String> names(String kind) {
		return this.names.keySet().stream().filter((name) -> kind.equals(this.names.get(name))).toList();
	}

	/** What stands in a section; nothing if there is none. */
	List<Node> section(String name) {
		return this.sections.getOrDefault(name, List.of());
	}

	IllegalArgumentException invalid(int line, String problem) {
		return invalid(this.place, line, problem);
	}

	private static IllegalArgumentException invalid(String place, int line, String problem) {
		return new IllegalArgumentException("Invalid script (%s, line %d): %s".formatted(place, line, problem));
	}

	/** Takes in one line after the other. */
	private static final class Parser {

		private static final Pattern SECTION = Pattern.compile("--- (.*)");

		private static final Pattern NAMES = Pattern.compile("-- @(\\w+) (.*)");

		private static final Pattern INSTRUCTION = Pattern.compile(
				"--\\[(?:(each limit|last limit|each slot_)|section_ (\\w+)|if (not )?([A-Z0-9_]+)|(else)|(end))]");

		/** What the declaration of a function or of constants begins with. */
		private static final Pattern DECLARATION = Pattern.compile("local (?:function )?([\\w, ]+?)(?:\\(| =)");

		private static final Pattern LOCALS = Pattern.compile("local ([\\w, ]+)");

		/** Repetitions, strings, comments, words that are no fields, and brackets. */
		private static final Pattern TOKEN = Pattern
			.compile("\\b(each|every_)\\(|('(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\")|(--.*)"
					+ "|((?:(?<![\\w.])|(?<=\\.\\.))(?:(?:string|math|table|struct|redis)\\.)?[A-Za-z_]\\w*)|[()]");

		private static final Pattern REPEATED_IN_STRING = Pattern.compile("(each|every_)\\(([^()]*)\\)");

		private final String place;

		private final Set<String> required;

		private final Set<String> optional;

		private final Map<String, String> names = new LinkedHashMap<>();

		private final Map<String, List<Node>> sections = new HashMap<>();

		private final Deque<Open> open = new ArrayDeque<>();

		private String section = "";

		private List<Node> nodes = new ArrayList<>();

		private int number;

		/**
		 * What has no end yet.
		 *
		 * @param otherwise where what follows an {@code else} belongs
		 */
		private record Open(int number, List<Node> nodes, @Nullable List<Node> otherwise) {

		}

		Parser(String place, Set<String> required, Set<String> optional) {
			this.place = place;
			this.required = required;
			this.optional = optional;
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
			Matcher begin = SECTION.matcher(line);
			if (begin.matches()) {
				endSection();
				beginSection(begin.group(1).strip());
			}
			else if (this.section.isEmpty()) {
				header(line);
			}
			else if (text.startsWith("--[")) {
				instruction(text);
			}
			else if (!text.isEmpty() && !text.startsWith("--")) {
				declarations(line);
				code(text);
				add(new Text("\n"));
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
			if (!this.required.contains(name) && !this.optional.contains(name)) {
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
				throw invalid("there is no end of what began in line %d.".formatted(this.open.peek().number));
			}
		}

		private void instruction(String text) {
			Matcher instruction = INSTRUCTION.matcher(text);
			if (!instruction.matches()) {
				throw invalid("'%s' is no instruction.".formatted(text));
			}
			if (instruction.group(1) != null) {
				begin(new Repeat(instruction.group(1), null, new ArrayList<>()));
			}
			else if (instruction.group(2) != null) {
				add(new Section(instruction.group(2)));
			}
			else if (instruction.group(4) != null) {
				List<Node> first = new ArrayList<>();
				List<Node> second = new ArrayList<>();
				boolean not = instruction.group(3) != null;
				add(new Choice(instruction.group(4), this.number, not ? second : first, not ? first : second));
				this.open.push(new Open(this.number, first, second));
			}
			else {
				Open last = this.open.poll();
				boolean isElse = instruction.group(5) != null;
				if (last == null || (isElse && last.otherwise == null)) {
					throw invalid("nothing began that this belongs to.");
				}
				if (isElse && last.otherwise != null) {
					this.open.push(new Open(last.number, last.otherwise, null));
				}
			}
		}

		private void declarations(String line) {
			Matcher declaration = DECLARATION.matcher(line);
			if (this.section.equals("functions")) {
				if (declaration.lookingAt()) {
					add(new Declaration(List.of(declaration.group(1).split(", "))));
				}
				return;
			}
			Matcher locals = LOCALS.matcher(line);
			while (locals.find()) {
				for (String name : locals.group(1).split("[, ]+")) {
					if (this.names.containsKey(name)) {
						throw invalid("'%s' is a variable already, and must not be local.".formatted(name));
					}
				}
			}
		}

		/** Takes a line apart. */
		private void code(String line) {
			Matcher token = TOKEN.matcher(line);
			int at = 0;
			int brackets = -1;
			while (token.find()) {
				add(new Text(line.substring(at, token.start())));
				at = token.end();
				if (token.group(1) != null) {
					begin(new Repeat(token.group(1), ", ", new ArrayList<>()));
					brackets = 0;
				}
				else if (token.group(2) != null) {
					string(token.group(2));
				}
				else if (token.group(4) != null) {
					add(new Word(token.group(4), this.number));
				}
				else if (brackets == 0 && token.group().equals(")")) {
					this.open.pop();
					brackets = -1;
				}
				else if (token.group(3) == null) {
					add(new Text(token.group()));
					brackets += (brackets < 0) ? 0 : token.group().equals("(") ? 1 : -1;
				}
			}
			add(new Text(line.substring(at)));
			if (brackets >= 0) {
				throw invalid("a bracket is not closed.");
			}
		}

		private void string(String text) {
			Matcher repeated = REPEATED_IN_STRING.matcher(text);
			int at = 0;
			while (repeated.find()) {
				add(new Text(text.substring(at, repeated.start())));
				add(new Repeat(repeated.group(1), "", List.of(new Text(repeated.group(2)))));
				at = repeated.end();
			}
			add(new Text(text.substring(at)));
		}

		private void begin(Repeat repeat) {
			add(repeat);
			this.open.push(new Open(this.number, repeat.nodes(), null));
		}

		private void add(Node node) {
			List<Node> target = this.open.isEmpty() ? this.nodes : this.open.peek().nodes;
			if (node instanceof Text more && !target.isEmpty() && target.get(target.size() - 1) instanceof Text text) {
				target.set(target.size() - 1, new Text(text.text() + more.text()));
			}
			else {
				target.add(node);
			}
		}

		private IllegalArgumentException invalid(String problem) {
			return Fragment.invalid(this.place, this.number, problem);
		}

	}

}
