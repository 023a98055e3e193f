package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What the server answers to one command, once it has. What is in a Redis key may be of
 * any making: it is read as a number if it is one, and as nothing otherwise.
 */
final class Reply {

	private @Nullable Object value;

	/**
	 * Takes the answer in.
	 * @throws JedisDataException if it is an error that does not come from what is in the
	 * Redis key
	 */
	void set(@Nullable Object value) {
		if (value instanceof JedisDataException ex && !isDamage(ex) && !isOverflow(ex)) {
			throw ex;
		}
		this.value = value;
	}

	/** Whether the Redis key holds something that cannot be counted with. */
	boolean damaged() {
		return (this.value instanceof JedisDataException ex && isDamage(ex))
				|| (this.value instanceof byte[] && number() == null);
	}

	/** Whether the command had an effect. */
	boolean done() {
		return !(this.value instanceof JedisDataException);
	}

	private static boolean isDamage(JedisDataException ex) {
		String message = String.valueOf(ex.getMessage());
		return message.startsWith("WRONGTYPE") || message.contains("not an integer");
	}

	private static boolean isOverflow(JedisDataException ex) {
		return String.valueOf(ex.getMessage()).contains("would overflow");
	}

	/** The number, or {@code null} if there is none. */
	@Nullable Long number() {
		return number(this.value);
	}

	/** The number; 0 if there is none, and the largest if the sum would be larger. */
	long count() {
		if (this.value instanceof JedisDataException ex && isOverflow(ex)) {
			return Long.MAX_VALUE;
		}
		Long number = number();
		return (number != null) ? number : 0;
	}

	/** The numbers of a list; 0 for each that is none. */
	long[] counts() {
		if (!(this.value instanceof List<?> values)) {
			return new long[0];
		}
		return values.stream().map(Reply::number).mapToLong((number) -> (number != null) ? number : 0).toArray();
	}

	private static @Nullable Long number(@Nullable Object value) {
		if (value instanceof Long number) {
			return number;
		}
		if (value instanceof byte[] text) {
			try {
				String written = new String(text, StandardCharsets.ISO_8859_1);
				Long number = Long.valueOf(written);
				// Redis counts only with what it would write itself.
				return number.toString().equals(written) ? number : null;
			}
			catch (NumberFormatException ex) {
				return null;
			}
		}
		return null;
	}

}
