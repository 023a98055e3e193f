package io.github.ratelimit.redis;

import java.net.SocketTimeoutException;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.WrongReplyException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What can go wrong with a store in Redis.
 *
 * @since 0.1
 */
public enum RedisErrorKind {

	/**
	 * The request was sent, and not answered in time. It is not known whether the cost
	 * was used.
	 */
	TIMEOUT,

	/**
	 * The request was not sent, because too many others waited, or its time was over
	 * before it was its turn. Nothing was used.
	 */
	OVERLOAD,

	/** There was no connection, or it broke. */
	CONNECTION,

	/**
	 * A node of a cluster did not answer, or is not asked because of that, or nobody has
	 * its slots, while another node answers. That is no outage of the store: requests
	 * whose Redis keys are elsewhere are limited. It is not known whether the cost was
	 * used.
	 */
	NODE,

	/** Redis is full, and may not evict anything. */
	OOM,

	/** The server is a replica, which cannot be written to. */
	READONLY,

	/** The server has fewer replicas than it must have to be written to. */
	NOREPLICAS,

	/** The server is a replica that has lost its master, and does not want to be read. */
	MASTERDOWN,

	/** The cluster is not complete. */
	CLUSTERDOWN,

	/** Redis could not save its data, and does not want more. */
	MISCONF,

	/** Another script takes too long. */
	BUSY,

	/** Redis has been started, and still reads its data. */
	LOADING,

	/** The server needs a password. */
	NOAUTH,

	/** The password is wrong. */
	WRONGPASS,

	/** The user may not do that. */
	NOPERM,

	/** The server forgets scripts as soon as it gets them. */
	NOSCRIPT,

	/** A Redis key holds something else than a count, and could not be replaced. */
	WRONGTYPE,

	/** The answer is none that a script of this library gives: is that a Redis server? */
	WRONG_REPLY,

	/** Another error of the server, such as an unknown command. */
	ERROR_REPLY,

	/** Anything else. */
	OTHER;

	private static final Map<String, RedisErrorKind> CODES = EnumSet.range(OOM, WRONGTYPE)
		.stream()
		.collect(Collectors.toMap(RedisErrorKind::name, Function.identity()));

	/** What a server that needs a password says to commands with many arguments. */
	private static final String TOO_LONG_WITHOUT_LOGIN = "ERR Protocol error: unauthenticated";

	/** What Redis and Valkey say when a script does what the user may not. */
	private static final List<String> FORBIDDEN_IN_SCRIPT = List.of("The user executing the script can't ",
			"ERR ACL failure in script");

	/**
	 * The code of an error is its first word. Before Redis 7, the one of a command in a
	 * script stands after the place in the script.
	 */
	private static final Pattern CODE = Pattern.compile("^(?:ERR Error running script.*?: ?@[^:]*: ?\\d+: ?-?)?(\\w+)",
			Pattern.DOTALL);

	/**
	 * Returns what went wrong.
	 * @param exception the exception of a store
	 * @return the kind; {@link #OTHER} if it does not come from Redis
	 */
	public static RedisErrorKind of(StoreException exception) {
		boolean connection = false;
		for (Throwable cause = exception.getCause(); cause != null; cause = cause.getCause()) {
			if (cause instanceof CallException ex) {
				switch (ex.reason()) {
					case NODE:
						return NODE;
					case TOO_LATE, QUEUE_FULL:
						return OVERLOAD;
					case UNANSWERED, SILENCE:
						return TIMEOUT;
					case OUTAGE:
						break;
				}
			}
			if (cause instanceof SocketTimeoutException) {
				return TIMEOUT;
			}
			if (cause instanceof WrongReplyException) {
				return WRONG_REPLY;
			}
			if (cause instanceof JedisDataException) {
				return ofReply(String.valueOf(cause.getMessage()));
			}
			connection |= cause instanceof JedisConnectionException;
		}
		return connection ? CONNECTION : OTHER;
	}

	private static RedisErrorKind ofReply(String message) {
		if (message.startsWith(TOO_LONG_WITHOUT_LOGIN)) {
			return NOAUTH;
		}
		if (FORBIDDEN_IN_SCRIPT.stream().anyMatch(message::contains)) {
			return NOPERM;
		}
		Matcher matcher = CODE.matcher(message);
		return matcher.find() ? CODES.getOrDefault(matcher.group(1), ERROR_REPLY) : ERROR_REPLY;
	}

	/**
	 * Returns whether a server did not answer, and not that it answered with an error.
	 * @return whether it has to be found out when it answers again
	 */
	public boolean isUnanswered() {
		return this == TIMEOUT || this == CONNECTION || this == NODE;
	}

	/**
	 * Returns the kind in metrics.
	 * @return lower-case words joined by hyphens, such as {@code wrong-reply}
	 */
	public String text() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
