package io.github.ratelimit.redis.script;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Limit;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.WindowCount;
import org.jspecify.annotations.Nullable;

/**
 * Reads what scripts remember.
 */
final class History {

	private final List<?> values;

	private int at;

	private History(@Nullable Object reply) {
		if (!(reply instanceof List<?> values)) {
			throw Answer.invalid(reply);
		}
		this.values = values;
	}

	static List<LogEntry> entries(@Nullable Object reply) {
		History history = new History(reply);
		List<LogEntry> entries = new ArrayList<>();
		while (history.at < history.values.size()) {
			entries.add(new LogEntry(Answer.instant(history.number()), history.number(), history.text()));
		}
		return entries;
	}

	static List<WindowCount> series(List<Limit> limits, @Nullable Object reply) {
		History history = new History(reply);
		List<WindowCount> series = new ArrayList<>();
		while (history.at < history.values.size()) {
			long limit = history.number();
			if (limit >= limits.size()) {
				throw Answer.invalid(reply);
			}
			series.add(new WindowCount(limits.get((int) limit), Answer.instant(history.number()), history.number()));
		}
		return series;
	}

	private long number() {
		Object value = next();
		if (value instanceof Long number && number >= 0 && number <= Limit.MAX_QUOTA) {
			return number;
		}
		throw Answer.invalid(value);
	}

	private String text() {
		Object value = next();
		if (value instanceof byte[] text) {
			return new String(text, StandardCharsets.UTF_8);
		}
		throw Answer.invalid(value);
	}

	private @Nullable Object next() {
		return (this.at < this.values.size()) ? this.values.get(this.at++) : null;
	}

}
