package io.github.ratelimit.redis.script.template;

import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.ratelimit.redis.script.template.Fragment.Line;

/**
 * What lines of a fragment are written for: the whole request, a policy, one of its
 * identifiers, or one limit of these.
 *
 * @param fragment the fragment whose sections are written
 * @param begin the Lua that begins a block for this context
 * @param words what words stand for; an empty text if they belong to each limit
 * @param parts the contexts that instructions such as {@code each limit} repeat lines for
 */
record Context(Fragment fragment, String begin, Map<String, String> words, Map<String, List<Context>> parts) {

	private static final String STRING = "'(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\"";

	/** How many brackets may be in each other within those of a repetition. */
	private static final int MOST_BRACKETS = 10;

	/** Strings, comments, repetitions, and words with the dots before them. */
	private static final Pattern TOKEN = Pattern.compile(STRING + "|--.*|(each|every_)\\((" + balanced(MOST_BRACKETS)
			+ ")\\)|(\\.*)((?:(?:string|math|table|struct|redis)\\.)?\\w+)");

	private static final Pattern REPEATED = Pattern.compile("(each|every_)\\(([^()]*)\\)");

	private static final Pattern NUMBER = Pattern.compile("-?\\d");

	private static String balanced(int brackets) {
		String inner = (brackets > 0) ? "|\\(" + balanced(brackets - 1) + "\\)" : "";
		return "(?:" + STRING + "|[^()'\"]" + inner + ")*";
	}

	List<Context> limits() {
		return this.parts.getOrDefault("each", List.of());
	}

	String section(String name) {
		StringBuilder lua = new StringBuilder();
		Fragment from = Fragment.REQUEST.sections().containsKey(name) ? Fragment.REQUEST : this.fragment;
		write(from.section(name), lua);
		return lua.toString();
	}

	private void write(List<Line> lines, StringBuilder lua) {
		for (Line line : lines) {
			switch (line.instruction()) {
				case "" -> lua.append(translate(line, line.text())).append('\n');
				case "section_" -> lua.append("do\n").append(section(line.text())).append("end\n");
				case "if" -> write(isSet(line) ? line.body() : line.otherwise(), lua);
				case "if not" -> write(isSet(line) ? line.otherwise() : line.body(), lua);
				default -> parts(line, line.instruction()).forEach((part) -> {
					lua.append(part.begin);
					part.write(line.body(), lua);
					lua.append("end\n");
				});
			}
		}
	}

	private boolean isSet(Line line) {
		if (!isConstant(line.text())) {
			throw Fragment.invalid(line.place(), "there is no constant '%s'.".formatted(line.text()));
		}
		return Double.parseDouble(this.words.getOrDefault(line.text(), "0")) != 0;
	}

	/** Returns whether a word stands for a number, and for none that a request has. */
	private boolean isConstant(String word) {
		return NUMBER.matcher(this.words.getOrDefault(word, "")).lookingAt();
	}

	private List<Context> parts(Line line, String repetition) {
		List<Context> parts = this.parts.get(repetition);
		if (parts == null) {
			throw Fragment.invalid(line.place(), "'%s' has no meaning here.".formatted(repetition));
		}
		return parts;
	}

	private String translate(Line line, String lua) {
		return TOKEN.matcher(lua).replaceAll((token) -> Matcher.quoteReplacement(meaning(line, token)));
	}

	private String meaning(Line line, MatchResult token) {
		String text = token.group();
		if (token.group(1) != null) {
			return parts(line, token.group(1)).stream()
				.map((part) -> part.translate(line, token.group(2)))
				.collect(Collectors.joining(", "));
		}
		return switch (text.charAt(0)) {
			case '\'', '"' -> REPEATED.matcher(text)
				.replaceAll(
						(each) -> Matcher.quoteReplacement(each.group(2).repeat(parts(line, each.group(1)).size())));
			case '-' -> "";
			default -> (token.end(3) - token.start(3) == 1) ? text : token.group(3) + meaning(line, token.group(4));
		};
	}

	private String meaning(Line line, String word) {
		if (word.indexOf('.') > 0) {
			return word.replace('.', '_') + '_';
		}
		String meaning = this.words.getOrDefault(word, word);
		if (meaning.isEmpty()) {
			throw Fragment.invalid(line.place(),
					"'%s' belongs to one limit, but this is about all of them.".formatted(word));
		}
		if (meaning.equals("each")) {
			throw Fragment.invalid(line.place(), "'each' has no brackets, or they are not closed.");
		}
		return meaning;
	}

}
