package io.github.ratelimit.redis.script.template;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.redis.script.Script;

/**
 * The Lua of an algorithm, in the form that {@code docs/fragments.md} describes, or the
 * Lua around it, {@code request.lua}.
 *
 * @param names the kind of each declared name: {@code slot}, {@code limit} or
 * {@code argument}
 * @param sections the lines of each section
 */
record Fragment(Map<String, String> names, Map<String, List<Line>> sections) {

	private static final Set<String> KINDS = Set.of("slot", "limit", "argument");

	private static final Set<String> SECTIONS = Set.of("load", "wait", "add", "refund", "remaining", "ttl", "state");

	private static final Set<String> OPTIONAL = Set.of("functions", "history");

	static final Fragment REQUEST = new Parser("request.lua", Script.read(Fragment.class, "request.lua"))
		.parse(Set.of("script", "request", "decide", "acquire", "penalize", "save"), "[a-z_]\\w*");

	private static final ClassValue<Map<String, Fragment>> READ = new ClassValue<>() {

		@Override
		protected Map<String, Fragment> computeValue(Class<?> neighbour) {
			return new ConcurrentHashMap<>();
		}

	};

	/**
	 * A line of Lua, or an instruction.
	 *
	 * @param place the file and the number of the line
	 * @param instruction the instruction; empty if this is Lua
	 * @param text the Lua; for an instruction, the constant or section that it names
	 * @param body the lines up to the end of an instruction
	 * @param otherwise the lines after {@code --[else]}
	 */
	record Line(String place, String instruction, String text, List<Line> body, List<Line> otherwise) {

	}

	/**
	 * Reads the fragment beside a class, by its name without {@code .lua}.
	 * @throws IllegalArgumentException if there is none, or it does not have the form
	 */
	static Fragment read(Class<?> neighbour, String name) {
		String file = name + ".lua";
		return READ.get(neighbour)
			.computeIfAbsent(name, (fragment) -> parse(neighbour.getPackageName().replace('.', '/') + '/' + file,
					Script.read(neighbour, file)));
	}

	static Fragment parse(String file, String text) {
		return new Parser(file, text).parse(SECTIONS, "[a-z_]\\w*(?<!_)");
	}

	List<String> names(String kind) {
		return this.names.keySet().stream().filter((name) -> kind.equals(this.names.get(name))).toList();
	}

	List<Line> section(String name) {
		return this.sections.getOrDefault(name, List.of());
	}

	static IllegalArgumentException invalid(String place, String problem) {
		return new IllegalArgumentException("Invalid script (%s): %s".formatted(place, problem));
	}

	private static final class Parser {

		private static final String SECTION = "--- ";

		private static final Pattern NAMES = Pattern.compile("-- @(\\w+) (.*)");

		private static final Pattern INSTRUCTION = Pattern.compile(
				"--\\[(each (?:limit|\\w+_)|last limit|section_(?= \\w)|if(?: not)?(?= [A-Z0-9])|else|end) ?(\\w*)]");

		private static final Pattern LOCALS = Pattern.compile("local ([\\w, ]+)");

		private final String file;

		private final List<String> text;

		private final Map<String, String> names = new LinkedHashMap<>();

		private final Map<String, List<Line>> sections = new HashMap<>();

		private String section = "";

		private int number;

		Parser(String file, String text) {
			this.file = file;
			this.text = text.lines().toList();
		}

		Fragment parse(Set<String> required, String name) {
			while (isInSection()) {
				readHeader(this.text.get(this.number++), name);
			}
			while (this.number < this.text.size()) {
				this.section = this.text.get(this.number++).substring(SECTION.length()).strip();
				if (!required.contains(this.section) && !OPTIONAL.contains(this.section)) {
					throw invalid("there is no such section as '%s'.".formatted(this.section));
				}
				if (this.sections.containsKey(this.section)) {
					throw invalid("the section '%s' is a duplicate.".formatted(this.section));
				}
				this.sections.put(this.section, readLines());
				if (isInSection()) {
					this.number++;
					throw invalid("there is no instruction that this belongs to.");
				}
			}
			for (String each : required) {
				if (!this.sections.containsKey(each)) {
					throw invalid("there is no section '%s'.".formatted(each));
				}
			}
			return new Fragment(this.names, this.sections);
		}

		private boolean isInSection() {
			return this.number < this.text.size() && !this.text.get(this.number).startsWith(SECTION);
		}

		private void readHeader(String line, String name) {
			Matcher declared = NAMES.matcher(line);
			if (declared.matches()) {
				if (!KINDS.contains(declared.group(1))) {
					throw invalid("'@%s' is not @slot, @limit or @argument.".formatted(declared.group(1)));
				}
				for (String each : declared.group(2).strip().split("\\s*,\\s*", -1)) {
					if (!each.matches(name) || this.names.put(each, declared.group(1)) != null) {
						throw invalid("'%s' is not a name, or a duplicate.".formatted(each));
					}
				}
			}
			else if (!line.isBlank() && !line.startsWith("--")) {
				throw invalid("there is code before the first section.");
			}
		}

		/** Reads up to {@code --[else]}, {@code --[end]} or the next section. */
		private List<Line> readLines() {
			List<Line> lines = new ArrayList<>();
			while (isInSection() && !isNext("else") && !isNext("end")) {
				String line = this.text.get(this.number++);
				if (line.strip().startsWith("--[")) {
					lines.add(readInstruction(line.strip()));
				}
				else if (!line.isBlank() && !line.strip().startsWith("--")) {
					requireNoVariable(line);
					lines.add(new Line(place(), "", line, List.of(), List.of()));
				}
			}
			return lines;
		}

		private boolean isNext(String instruction) {
			return isInSection() && this.text.get(this.number).strip().equals("--[" + instruction + "]");
		}

		private Line readInstruction(String text) {
			Matcher matcher = INSTRUCTION.matcher(text);
			if (!matcher.matches()) {
				throw invalid("'%s' is not an instruction.".formatted(text));
			}
			String place = place();
			int begin = this.number;
			List<Line> body = List.of();
			List<Line> otherwise = List.of();
			if (!matcher.group(1).equals("section_")) {
				body = readLines();
				if (matcher.group(1).startsWith("if") && isNext("else")) {
					this.number++;
					otherwise = readLines();
				}
				boolean isEnded = isNext("end");
				this.number++;
				if (!isEnded) {
					throw invalid("there is no end of the instruction in line %s.".formatted(begin));
				}
			}
			return new Line(place, matcher.group(1), matcher.group(2), body, otherwise);
		}

		private void requireNoVariable(String line) {
			Matcher locals = LOCALS.matcher(line);
			while (!this.section.equals("functions") && locals.find()) {
				for (String name : locals.group(1).split("[, ]+")) {
					if (this.names.containsKey(name)) {
						throw invalid("'%s' is a variable and must not be local.".formatted(name));
					}
				}
			}
		}

		private String place() {
			return this.file + ", line " + this.number;
		}

		private IllegalArgumentException invalid(String problem) {
			return Fragment.invalid(place(), problem);
		}

	}

}
