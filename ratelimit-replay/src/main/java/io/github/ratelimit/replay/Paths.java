package io.github.ratelimit.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.jspecify.annotations.Nullable;

/**
 * Which requests are counted: patterns of paths as in a policy, with or without a method.
 */
final class Paths {

	private static final Pattern TEXT = Pattern.compile("([A-Z]+ )?/([^\\s\"{}]|\\{\\w+(:[^\\s\"{}/]+)?})*");

	private static final Pattern PART = Pattern.compile("/\\*\\*|[*?/]|\\{\\w+(?::([^}]+))?}|[^*?{/]+");

	/** What a client may add and still ask for the same path. */
	private static final Pattern DECORATION = Pattern.compile(";[^/]*|/(?=/)|(?<=[^ ])/$");

	private final List<String> texts;

	private final List<Pattern> patterns = new ArrayList<>();

	/**
	 * @param texts patterns; all requests are counted if there are none
	 * @throws IllegalArgumentException if a pattern is not one
	 */
	Paths(List<String> texts) {
		this.texts = texts.stream().map(String::strip).toList();
		for (String text : this.texts) {
			try {
				if (!TEXT.matcher(text).matches()) {
					throw new PatternSyntaxException("no pattern of paths", text, 0);
				}
				String plain = text.replaceFirst("(?<=[^ ])/$", "");
				String regex = PART.matcher(plain).replaceAll((part) -> Matcher.quoteReplacement(regex(part)));
				this.patterns.add(Pattern.compile((text.startsWith("/") ? "\\S+ " : "") + regex));
			}
			catch (PatternSyntaxException ex) {
				throw new IllegalArgumentException("Invalid path (" + text
						+ "): must be a pattern such as /api/**, GET /user/* or /user/{id:[0-9]+}, with regular expressions only in braces, without slashes and commas.",
						ex);
			}
		}
	}

	/**
	 * A line break stands for a slash, because nothing in a regular expression matches
	 * it, so that a segment cannot match several.
	 */
	private static String regex(MatchResult part) {
		String text = part.group();
		String inBraces = (part.group(1) != null) ? "(?:" + part.group(1).replace("[^", "[^\n") + ")" : ".+";
		return switch (text) {
			case "/**" -> "(?s:\n.*)?";
			case "/" -> "\n";
			case "*" -> ".*";
			case "?" -> ".";
			default -> text.startsWith("{") ? inBraces : Pattern.quote(text);
		};
	}

	boolean match(LogLine line) {
		return this.texts.isEmpty() || pattern(line) != null;
	}

	/** Returns the pattern of the path, or the path itself if there are no patterns. */
	@Nullable String pattern(LogLine line) {
		if (this.texts.isEmpty()) {
			return line.path();
		}
		String request = line.method() + " " + line.path();
		String plain = DECORATION.matcher(request).replaceAll("").replace('/', '\n');
		for (int i = 0; i < this.texts.size(); i++) {
			if (this.patterns.get(i).matcher(plain).matches()) {
				return this.texts.get(i);
			}
		}
		return null;
	}

}
