package io.github.ratelimit.redis;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import java.util.List;

import io.github.ratelimit.Limit;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What a script answered, read from the first value to the last. What no script of ours
 * answers is an error of the server, or of something between.
 */
final class ScriptReply {

	/** No number of a script is larger. */
	private static final long LARGEST = Limit.MAX_QUOTA;

	/** What the message of every answer starts with that is none. */
	static final String INVALID = "Invalid reply of a script";

	private final Iterator<?> values;

	private ScriptReply(List<?> values) {
		this.values = values.iterator();
	}

	/**
	 * Takes in an answer that is a list.
	 * @throws JedisDataException if it is none
	 */
	static ScriptReply of(@Nullable Object reply) {
		if (reply instanceof List<?> values) {
			return new ScriptReply(values);
		}
		throw invalid(reply);
	}

	/**
	 * Takes in an answer that is one number.
	 * @throws JedisDataException if it is none
	 */
	static long number(@Nullable Object reply) {
		if (reply instanceof Long number && number >= 0 && number <= LARGEST) {
			return number;
		}
		throw invalid(reply);
	}

	boolean hasNext() {
		return this.values.hasNext();
	}

	/** The next value, a number from 0 on. */
	long number() {
		return number(next());
	}

	/** The next value, a number from 0 on, or -1 for what never will be. */
	long numberOrNever() {
		Object value = next();
		return Long.valueOf(-1).equals(value) ? -1 : number(value);
	}

	/** The next value, 1 or 0. */
	boolean yesOrNo() {
		return index(2) == 1;
	}

	/** The next value, a number from 0 to one less than the size. */
	int index(int size) {
		long number = number();
		if (number < size) {
			return (int) number;
		}
		throw invalid(number);
	}

	/** The next value, a time. */
	Instant instant() {
		return instant(number());
	}

	/** The next value, a text. */
	String text() {
		Object value = next();
		if (value instanceof String text) {
			return text;
		}
		throw invalid(value);
	}

	/**
	 * Says that there is no more.
	 * @throws JedisDataException if there is
	 */
	void end() {
		if (hasNext()) {
			throw invalid("more values");
		}
	}

	static Instant instant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	private @Nullable Object next() {
		return this.values.hasNext() ? this.values.next() : null;
	}

	private static JedisDataException invalid(@Nullable Object value) {
		return new JedisDataException(INVALID + " (%s): is this a Redis server?".formatted(value));
	}

}
