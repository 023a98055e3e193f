package io.github.ratelimit.redis.connection;

import java.util.regex.Pattern;

import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The messages of errors of a server. Some repeat the command with its Redis keys, which
 * contain identifiers and must not get into logs.
 */
public final class ErrorText {

	/** What precedes the arguments of an unknown command. */
	private static final String ARGUMENTS = ", with args";

	/** The identifier in a Redis key, which may be truncated. */
	private static final Pattern TAG = Pattern.compile("\\{[^}]*(\\}|$)");

	/** The line of a script that failed, and the dash of an error. */
	private static final Pattern PLACE = Pattern.compile("^(?:@?user_script: ?\\d+: ?)*-?");

	private static final Pattern CODE = Pattern.compile("[A-Z]+ .*", Pattern.DOTALL);

	private ErrorText() {
	}

	/**
	 * Returns the error that a script has caught, as if it were the reply of the server.
	 * @param text what the script returns; before Redis 7 with a line number
	 */
	public static JedisDataException caught(String text) {
		String error = PLACE.matcher(text).replaceFirst("").strip();
		return withoutKeys(new JedisDataException(CODE.matcher(error).matches() ? error : "ERR " + text.strip()));
	}

	/** Returns the same error without Redis keys. */
	static JedisDataException withoutKeys(JedisDataException ex) {
		String text = String.valueOf(ex.getMessage());
		int end = text.indexOf(ARGUMENTS);
		String shown = TAG.matcher((end < 0) ? text : text.substring(0, end)).replaceAll("{...}");
		if (shown.equals(text)) {
			return ex;
		}
		JedisDataException other = new JedisDataException(shown, ex.getCause());
		other.setStackTrace(ex.getStackTrace());
		return other;
	}

}
