package io.github.ratelimit.redis.connection;

import java.util.regex.Pattern;

import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What servers say when they refuse something. Some repeat what they were asked, also the
 * Redis keys, which hold identifiers; but what they say gets into logs.
 */
public final class ErrorText {

	/** What a server begins to repeat a command with that it does not know. */
	private static final String ARGUMENTS = ", with args";

	/** What of a Redis key names an identifier, be it cut short. */
	private static final Pattern TAG = Pattern.compile("\\{[^}]*(\\}|$)");

	/** Where in a script something failed, and the dash of an error. */
	private static final Pattern PLACE = Pattern.compile("^(?:@?user_script: ?\\d+: ?)*(?:@user_script: ?\\d+: ?)*-?");

	private static final Pattern CODE = Pattern.compile("[A-Z]+ .*", Pattern.DOTALL);

	private ErrorText() {
	}

	/**
	 * Returns the error that a script has caught, as if the server had answered with it.
	 * @param text what the script says; before Redis 7 with the place in the script
	 */
	public static JedisDataException caught(String text) {
		String error = PLACE.matcher(text).replaceFirst("").strip();
		return withoutKeys(new JedisDataException(CODE.matcher(error).matches() ? error : "ERR " + text.strip()));
	}

	/** Returns the same if it names no identifier. */
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
