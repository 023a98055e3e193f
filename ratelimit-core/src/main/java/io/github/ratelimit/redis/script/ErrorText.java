package io.github.ratelimit.redis.script;

import java.util.regex.Pattern;

import io.github.ratelimit.redis.connection.Carrier;
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

	private static final String HIDDEN = "{...}";

	/** Where in a script something failed, and the dash of an error. */
	private static final Pattern PLACE = Pattern.compile("^(?:@?user_script: ?\\d+: ?)*(?:@user_script: ?\\d+: ?)*-?");

	private static final Pattern CODE = Pattern.compile("[A-Z]+ .*", Pattern.DOTALL);

	private ErrorText() {
	}

	/** Throws the exception if it says anything else than that a slot is moving. */
	static void requireMoving(JedisDataException ex) {
		if (!Carrier.isMoving(ex)) {
			throw ex;
		}
	}

	/**
	 * Returns the error that a script has caught, as if the server had answered with it.
	 * @param text what the script says; before Redis 7 with the place in the script
	 * @return an exception whose message begins with the code of the error
	 */
	static JedisDataException caught(String text) {
		String error = PLACE.matcher(text).replaceFirst("").strip();
		return withoutKeys(new JedisDataException(CODE.matcher(error).matches() ? error : "ERR " + text.strip()));
	}

	/**
	 * Leaves out what names an identifier.
	 * @param ex what a server has answered
	 * @return the same exception if there is no such thing
	 */
	public static JedisDataException withoutKeys(JedisDataException ex) {
		String text = ex.getMessage();
		if (text == null) {
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
