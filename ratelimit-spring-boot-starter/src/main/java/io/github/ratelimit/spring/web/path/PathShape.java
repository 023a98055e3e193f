package io.github.ratelimit.spring.web.path;

import java.util.List;
import java.util.regex.Pattern;

import io.github.ratelimit.spring.decide.NearestNames;

import org.springframework.http.server.PathContainer;
import org.springframework.util.StringUtils;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * The segments of a path pattern, to compare it with others.
 *
 * @param segments the segments, without a slash at the end
 * @param parser parses patterns of single segments; tells whether case matters
 */
record PathShape(List<String> segments, PathPatternParser parser) {

	/** Paths that filters may answer. */
	private static final Pattern OF_LOGIN = Pattern
		.compile("(.*/)?(log(in|out)|sign(in|out)|token|oauth2?|saml2)(/.*)?");

	static PathShape of(String pattern, PathPatternParser parser) {
		return new PathShape(List.of(StringUtils.trimTrailingCharacter(pattern, '/').split("/", -1)), parser);
	}

	/** Returns whether some path may match both patterns. */
	boolean mayMeet(String pattern) {
		List<String> others = of(pattern, this.parser).segments;
		int both = Math.min(this.segments.size(), others.size());
		for (int i = 0; i < both; i++) {
			if (isTail(this.segments.get(i)) || isTail(others.get(i))) {
				return true;
			}
			if (!mayBeSame(this.segments.get(i), others.get(i))) {
				return false;
			}
		}
		List<String> longer = (this.segments.size() > both) ? this.segments : others;
		return longer.size() == both || isTail(longer.get(both));
	}

	private boolean mayBeSame(String one, String other) {
		if (isLiteral(one) && isLiteral(other)) {
			return this.parser.isCaseSensitive() ? one.equals(other) : one.equalsIgnoreCase(other);
		}
		if (isLiteral(one) || isLiteral(other)) {
			String literal = isLiteral(one) ? one : other;
			return this.parser.parse("/" + (isLiteral(one) ? other : one))
				.matches(PathContainer.parsePath("/" + literal));
		}
		return true;
	}

	/** Returns whether the pattern matches one path only. */
	boolean isLiteral() {
		return this.segments.stream().allMatch(PathShape::isLiteral);
	}

	/** Returns what all paths begin with: the segments before the first wildcard. */
	String literalPrefix() {
		return String.join("/", prefix());
	}

	private List<String> prefix() {
		return this.segments.stream().takeWhile(PathShape::isLiteral).toList();
	}

	/** Returns in how many letters, except for their case, another one begins apart. */
	int distance(String pattern) {
		return NearestNames.distance(literalPrefix(), beginning(pattern));
	}

	/** Returns what another pattern has in the place of the literal prefix. */
	private String beginning(String pattern) {
		return String.join("/", of(pattern, this.parser).prefix().stream().limit(prefix().size()).toList());
	}

	/**
	 * Returns whether this is most likely a misspelt other pattern: they begin alike
	 * except for case, or for one letter.
	 */
	boolean isMisspelt(String pattern) {
		return !beginning(pattern).equals(literalPrefix()) && distance(pattern) <= 1
				&& !OF_LOGIN.matcher(literalPrefix()).matches();
	}

	/** Returns whether a segment matches any number of segments. */
	static boolean isTail(String segment) {
		return segment.equals("**") || segment.startsWith("{*");
	}

	/** Returns whether a segment has no wildcards or escapes, which match other text. */
	static boolean isLiteral(String segment) {
		return segment.chars().noneMatch((c) -> "*?{%;\\".indexOf(c) >= 0);
	}

}
