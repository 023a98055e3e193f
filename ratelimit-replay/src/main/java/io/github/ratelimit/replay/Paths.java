package io.github.ratelimit.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Which requests are counted: patterns of paths as in a policy, with or without a method.
 */
final class Paths {

	private final List<String> texts;

	private final List<Pattern> patterns = new ArrayList<>();

	/**
	 * @param texts patterns; all requests are counted if there are none
	 * @throws IllegalArgumentException if a pattern is not one
	 */
	Paths(List<String> texts) {
		this.texts = texts;
		for (String text : texts) {
			if (!text.matches("([A-Z]+ )?/([^ {}\"\\\\]|\\{\\w+})*")) {
				throw new IllegalArgumentException("Invalid path (" + text
						+ "): must be a pattern such as /api/**, GET /user/* or /user/{id}, without regular expressions.");
			}
			// Quoted, but for what stands for something else; a path cannot have a line
			// break.
			String regex = text.replace("/**", "\n").replaceAll("\\*", "\\\\E[^/]*\\\\Q");
			regex = regex.replaceAll("\\{\\w+}", "\\\\E[^/]+\\\\Q").replace("\n", "\\E(/.*)?\\Q");
			this.patterns.add(Pattern.compile((text.startsWith("/") ? "\\S+ " : "") + "\\Q" + regex + "\\E"));
		}
	}

	boolean match(LogLine line) {
		return this.texts.isEmpty() || pattern(line) != null;
	}

	/** Returns the pattern of the path, or the path itself if there are no patterns. */
	@Nullable String pattern(LogLine line) {
		if (this.texts.isEmpty()) {
			return line.path();
		}
		String method = "HEAD".equals(line.method()) ? "GET" : line.method();
		for (int i = 0; i < this.texts.size(); i++) {
			if (this.patterns.get(i).matcher(method + " " + line.path()).matches()) {
				return this.texts.get(i);
			}
		}
		return null;
	}

}
