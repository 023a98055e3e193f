package io.github.ratelimit.redis;

import java.util.regex.Pattern;

import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What servers say when they refuse something. Some repeat what they were asked, also the
 * Redis keys, which hold identifiers; but what they say gets into logs.
 */
final class ErrorText {

	/** What a server begins to repeat a command with that it does not know. */
	private static final String ARGUMENTS = ", with args";

	/** What of a Redis key names an identifier, be it cut short. */
	private static final Pattern TAG = Pattern.compile("\\{[^}]*(\\}|$)");

	private static final String HIDDEN = "{...}";

	private ErrorText() {
	}

	/**
	 * Leaves out what names an identifier.
	 * @return the same exception if there is no such thing
	 */
	static Throwable withoutKeys(Throwable ex) {
		String text = ex.getMessage();
		if (!(ex instanceof JedisDataException) || text == null) {
			return ex;
		}
		int end = text.indexOf(ARGUMENTS);
		String shown = TAG.matcher((end < 0) ? text : text.substring(0, end)).replaceAll(HIDDEN);
		if (shown.equals(text)) {
			return ex;
		}
		JedisDataException other = new JedisDataException(shown, ex.getCause());
		other.setStackTrace(ex.getStackTrace());
		return other;
	}

}
