package io.github.ratelimit.spring.policy;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Which responses are meant, by their status: {@code status in [401, 403, 5xx]}.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param statuses the ranges of status codes, at least one
 * @since 0.1
 */
public record ResponseCondition(List<Range> statuses) {

	private static final Pattern SYNTAX = Pattern.compile("\\s*status\\s+in\\s+\\[(.*)]\\s*");

	private static final Pattern STATUS = Pattern.compile("([1-5])(xx|[0-9]{2})");

	private static final int CLASS = 100;

	/** Creates a condition. */
	public ResponseCondition {
		statuses = List.copyOf(statuses);
	}

	/**
	 * Parses a condition, such as {@code status in [401, 4xx]}.
	 * @throws IllegalArgumentException if the text is not a condition
	 */
	public static ResponseCondition parse(String text) {
		Matcher matcher = SYNTAX.matcher(text);
		if (!matcher.matches()) {
			throw invalid(text);
		}
		return new ResponseCondition(
				Arrays.stream(matcher.group(1).split(",", -1)).map((status) -> range(status.strip(), text)).toList());
	}

	private static Range range(String status, String text) {
		Matcher matcher = STATUS.matcher(status);
		if (!matcher.matches()) {
			throw invalid(text);
		}
		int first = Integer.parseInt(matcher.group(1)) * CLASS;
		if (matcher.group(2).equals("xx")) {
			return new Range(first, first + CLASS - 1);
		}
		int code = first + Integer.parseInt(matcher.group(2));
		return new Range(code, code);
	}

	private static IllegalArgumentException invalid(String text) {
		return new IllegalArgumentException(
				"Invalid condition (%s): must be like 'status in [401, 403]' or 'status in [4xx, 500]'."
					.formatted(text));
	}

	/** Returns whether a response with a status code is meant. */
	public boolean matches(int status) {
		return this.statuses.stream().anyMatch((range) -> range.first() <= status && status <= range.last());
	}

	/** Returns the text form, which {@link #parse(String)} accepts. */
	@Override
	public String toString() {
		return this.statuses.stream().map(Range::toString).collect(Collectors.joining(", ", "status in [", "]"));
	}

	/** A range of status codes, with both ends. */
	public record Range(int first, int last) {

		/** Returns the text form, such as {@code 401} or {@code 4xx}. */
		@Override
		public String toString() {
			if (this.first == this.last) {
				return Integer.toString(this.first);
			}
			return (this.first % CLASS == 0 && this.last == this.first + CLASS - 1) ? this.first / CLASS + "xx"
					: this.first + "-" + this.last;
		}

	}

}
