package io.github.ratelimit.spring.web.path;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

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
public record PathShape(List<String> segments, PathPatternParser parser) {

	/** Paths that a filter may answer, with names that are alike. */
	private static final List<String> OF_LOGIN = List.of("login", "logout", "signin", "signout", "token", "oauth",
			"oauth2", "saml2");

	/** A segment of so many letters may differ in two of them, a shorter one in one. */
	private static final int LONG = 6;

	public static PathShape of(String pattern, PathPatternParser parser) {
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

	/**
	 * Returns how much the beginning of another pattern differs: the letters of each
	 * segment, except for their case, of which those of the first ones weigh most.
	 */
	public int distance(String pattern) {
		int[] letters = letters(pattern);
		return IntStream.range(0, letters.length)
			.map((i) -> letters[i] * (letters.length - i) * (letters.length - i))
			.sum();
	}

	/** Returns how many letters differ in each segment before the first wildcard. */
	private int[] letters(String pattern) {
		List<String> prefix = prefix();
		List<String> others = of(pattern, this.parser).segments;
		return IntStream.range(0, prefix.size()).map((i) -> {
			String other = (i < others.size()) ? others.get(i) : "";
			return isLiteral(other) ? NearestNames.distance(prefix.get(i), other)
					: mayBeSame(prefix.get(i), other) ? 0 : prefix.get(i).length();
		}).toArray();
	}

	/**
	 * Returns whether this pattern is most likely a misspelt other one: they begin alike
	 * except for case, or for a few letters of one segment.
	 */
	public boolean isMisspelt(String pattern) {
		int[] letters = letters(pattern);
		List<String> others = of(pattern, this.parser).segments;
		return others.size() >= letters.length && Arrays.stream(letters).filter((count) -> count > 0).count() <= 1
				&& IntStream.range(0, letters.length).anyMatch((i) -> !mayBeSame(this.segments.get(i), others.get(i)))
				&& IntStream.range(0, letters.length)
					.allMatch((i) -> letters[i] == 0 || isMisspelt(this.segments.get(i), others.get(i), letters[i]));
	}

	private static boolean isMisspelt(String segment, String other, int letters) {
		return isLiteral(other) && segment.length() > 1 && !OF_LOGIN.contains(segment)
				&& letters <= ((segment.length() < LONG) ? 1 : 2);
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
