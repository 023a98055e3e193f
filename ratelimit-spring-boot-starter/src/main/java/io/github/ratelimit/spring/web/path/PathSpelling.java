package io.github.ratelimit.spring.web.path;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Tells what is wrong with path patterns that are written as a regular expression or with
 * a query. They are valid patterns, but no request matches them.
 */
final class PathSpelling {

	/** Variables, which may have regular expressions. */
	private static final Pattern VARIABLE = Pattern.compile("\\{(?:[^{}]|\\{[^{}]*})*}");

	/**
	 * A question mark stands for one character, but not before a parameter, nor behind
	 * the extension of a file.
	 */
	private static final Pattern QUERY = Pattern
		.compile("\\?[^/]*[=&]|\\.(?:json|xml|html?|csv|txt|pdf|js|css|php|jsp|do|action)\\?");

	private static final Pattern PARAMETER = Pattern.compile("\\?([\\w-]+)=");

	/**
	 * What stands for more than itself in regular expressions, but not in patterns. The
	 * paths {@code /.*}{@code /**} are those of names such as {@code .git}, and
	 * {@code Books(*)} has a key.
	 */
	private static final Pattern REGEX = Pattern.compile("[\\[\\]|^\\\\]|\\$$"
			+ "|(?!^/\\.\\*/\\*\\*$)(?:^|/)\\.[*+]\\??(?:/|$)|\\([^)]*(?:\\.[*+]|\\?:)[^)]*\\)|\\)[*+?]");

	private PathSpelling() {
	}

	/**
	 * Returns what is wrong with a path.
	 * @param path the path, without a method
	 * @return what to do, to follow "must be"; {@code null} if the path has no query, and
	 * is no regular expression
	 */
	static @Nullable String problem(String path) {
		if (path.equals("/.*")) {
			// As a pattern it matches /.env.
			return "/** for all paths, or /{name:[.].*} for names that begin with a point";
		}
		String withoutVariables = VARIABLE.matcher(path).replaceAll("x");
		if (REGEX.matcher(withoutVariables).find()) {
			return "a path pattern, not a regular expression: /** for /.*. One segment may have one, as in /users/{id:[0-9]+}";
		}
		if (QUERY.matcher(withoutVariables).find()) {
			Matcher parameter = PARAMETER.matcher(path);
			String name = parameter.find() ? parameter.group(1) : "NAME";
			return "%s, because the query is not part of the path. The identifier query:%s counts by a parameter"
				.formatted(path.substring(0, path.indexOf('?')), name);
		}
		return null;
	}

}
