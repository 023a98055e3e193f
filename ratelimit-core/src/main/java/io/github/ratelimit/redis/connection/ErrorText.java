package io.github.ratelimit.redis.connection;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
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

	private static final Pattern CODED = Pattern.compile("[A-Z]+ .*", Pattern.DOTALL);

	/** The first word; before Redis 7, in a script, it follows the position. */
	private static final Pattern CODE = Pattern.compile("^(?:ERR Error running script.*?: ?@[^:]*: ?\\d+: ?-?)?(\\w+)",
			Pattern.DOTALL);

	private static final Set<String> WRONG_SERVER = Set.of("READONLY", "MASTERDOWN", "NOAUTH", "WRONGPASS");

	private ErrorText() {
	}

	/** Returns the error that a script has caught, before Redis 7 with a line number. */
	public static JedisDataException caught(String text) {
		String error = PLACE.matcher(text).replaceFirst("").strip();
		return withoutKeys(new JedisDataException(CODED.matcher(error).matches() ? error : "ERR " + text.strip()));
	}

	public static String code(String message) {
		Matcher matcher = CODE.matcher(message);
		return matcher.find() ? matcher.group(1) : "";
	}

	/** Returns whether a new connection may lead to another server, or be logged in. */
	static boolean isOfWrongServer(@Nullable Throwable failure) {
		return failure instanceof JedisDataException
				&& WRONG_SERVER.contains(code(String.valueOf(failure.getMessage())));
	}

	static boolean isOfLoadingServer(@Nullable Throwable failure) {
		return failure instanceof JedisDataException && code(String.valueOf(failure.getMessage())).equals("LOADING");
	}

	/**
	 * Returns whether a command had no effect because only some of its Redis keys have
	 * moved to the new node.
	 */
	public static boolean isOfMovingSlot(@Nullable Object reply) {
		return reply instanceof JedisDataException error && String.valueOf(error.getMessage()).startsWith("TRYAGAIN");
	}

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
