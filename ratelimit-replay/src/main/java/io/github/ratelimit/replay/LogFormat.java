package io.github.ratelimit.replay;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.ratelimit.Meter;

/**
 * Parses lines: a line that begins with a brace is JSON, every other one is in the common
 * or combined log format, which are the defaults of Tomcat and nginx.
 *
 * @param names names of fields in JSON that are not found by themselves, by the names of
 * {@link LogLine#fields}, and of {@code time}
 */
record LogFormat(Map<String, String> names) {

	private static final String QUOTED = " \"([^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+)\"";

	/**
	 * There may be a host with a port before an address, spaces in users, and escaped
	 * quotes.
	 */
	private static final Pattern COMBINED = Pattern
		.compile("(?:[^\\s:]+:\\d+ (?=\\S*[.:]))?(\\S+) \\S+ (.*?) ?\\[([^]]+)](?:" + QUOTED + "(?: \\S+ \\S+(?:"
				+ QUOTED + QUOTED + ")?)?)?.*", Pattern.DOTALL);

	private static final List<String> GROUPS = List.of("ip", "user", "time", "request", "header:referer",
			"header:user-agent");

	private static final DateTimeFormatter COMMON = DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z",
			Locale.ENGLISH);

	private static final DateTimeFormatter ISO = new DateTimeFormatterBuilder().append(DateTimeFormatter.ISO_LOCAL_DATE)
		.appendPattern("['T'][' ']")
		.append(DateTimeFormatter.ISO_LOCAL_TIME)
		.appendPattern("[XXX][XX][X]")
		.toFormatter(Locale.ROOT);

	private static final Pattern NUMBER = Pattern.compile("\\d{1,16}(\\.\\d{1,20})?");

	private static final BigDecimal LARGEST_SECONDS = BigDecimal.valueOf(100_000_000_000L);

	/**
	 * Parses a line.
	 * @throws IllegalArgumentException if it has no time, or no form that is known; the
	 * message says why
	 */
	LogLine parse(String line) {
		if (line.startsWith("{")) {
			JsonFields json = JsonFields.parse(line, this.names);
			return new LogLine(micros(String.valueOf(json.find("time"))), json::find);
		}
		Matcher matcher = COMBINED.matcher(line);
		if (!matcher.matches()) {
			throw new IllegalArgumentException("there is no address with a time in brackets, and no JSON");
		}
		return new LogLine(micros(matcher.group(3)), (name) -> {
			int group = GROUPS.indexOf(name.toLowerCase(Locale.ROOT));
			return (group >= 0) ? matcher.group(group + 1) : null;
		});
	}

	private static long micros(String text) {
		String time = text.startsWith("[") ? text.substring(1, text.length() - 1) : text;
		if (NUMBER.matcher(time).matches()) {
			BigDecimal number = new BigDecimal(time);
			// Seconds until the year 5138, else milliseconds.
			int digits = (number.compareTo(LARGEST_SECONDS) < 0) ? 6 : 3;
			return Meter.micros(Log.time(number.movePointRight(digits).longValue()));
		}
		try {
			return Meter.micros(Instant.from(((time.indexOf('/') == 2) ? COMMON : ISO).parse(time)));
		}
		catch (DateTimeException ex) {
			throw new IllegalArgumentException("there is no time with a time zone", ex);
		}
	}

}
