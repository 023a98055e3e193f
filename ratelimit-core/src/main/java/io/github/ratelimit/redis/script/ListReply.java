package io.github.ratelimit.redis.script;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.WindowCount;
import org.jspecify.annotations.Nullable;

/**
 * Reads replies that are lists, from the first value to the last.
 */
final class ListReply {

	private final List<?> values;

	private int at;

	ListReply(@Nullable Object reply) {
		if (!(reply instanceof List<?> values)) {
			throw Answer.invalid(reply);
		}
		this.values = values;
	}

	static List<LogEntry> entries(@Nullable Object reply) {
		ListReply values = new ListReply(reply);
		List<LogEntry> entries = new ArrayList<>();
		while (values.hasNext()) {
			entries.add(new LogEntry(Answer.instant(values.number()), values.number(), values.text()));
		}
		return entries;
	}

	static List<WindowCount> series(List<Limit> limits, @Nullable Object reply) {
		ListReply values = new ListReply(reply);
		List<WindowCount> series = new ArrayList<>();
		while (values.hasNext()) {
			long limit = values.number();
			if (limit >= limits.size()) {
				throw Answer.invalid(reply);
			}
			series.add(new WindowCount(limits.get((int) limit), Answer.instant(values.number()), values.number()));
		}
		return series;
	}

	boolean hasNext() {
		return this.at < this.values.size();
	}

	/** The next value, a number from 0 on. */
	long number() {
		Object value = next();
		if (value instanceof Long number && number >= 0 && number <= Limit.MAX_QUOTA) {
			return number;
		}
		throw Answer.invalid(value);
	}

	/** The next value, a text. */
	String text() {
		Object value = next();
		if (value instanceof byte[] text) {
			return new String(text, StandardCharsets.UTF_8);
		}
		throw Answer.invalid(value);
	}

	private @Nullable Object next() {
		return hasNext() ? this.values.get(this.at++) : null;
	}

}
