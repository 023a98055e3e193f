package io.github.ratelimit.replay;

import java.util.function.Function;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A line of an access log.
 *
 * @param micros the time, in microseconds since the epoch
 * @param fields returns a field by its name, {@code null} if there is none: {@code ip},
 * {@code user}, {@code method}, {@code path} (with its query), {@code request} (such as
 * {@code GET /path HTTP/1.1}) and {@code header:NAME}
 */
record LogLine(long micros, Function<String, @Nullable String> fields) {

	private static final Pattern HOST_OR_QUERY = Pattern.compile("^https?://[^/?]*|\\?.*");

	@Nullable String field(String name) {
		String value = this.fields.apply(name);
		return (value == null || value.isEmpty() || value.equals("-")) ? null : value;
	}

	/**
	 * Returns the method, GET for HEAD as policies do; {@code null} if it is unknown.
	 */
	@Nullable String method() {
		String method = requested("method", 0);
		return "HEAD".equals(method) ? "GET" : method;
	}

	/** Returns the path without host and query; {@code null} if it is unknown. */
	@Nullable String path() {
		String target = requested("path", 1);
		return (target == null) ? null : HOST_OR_QUERY.matcher(target).replaceAll("");
	}

	private @Nullable String requested(String name, int index) {
		String value = field(name);
		String request = field("request");
		String[] parts = (request != null) ? request.split(" ", 3) : new String[0];
		return (value == null && parts.length > 1) ? parts[index] : value;
	}

}
