package io.github.ratelimit.redis;

import java.net.SocketTimeoutException;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.ErrorText;
import io.github.ratelimit.redis.connection.WrongReplyException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What can go wrong with a store in Redis.
 */
public enum RedisErrorKind {

	/**
	 * The request was sent but not answered in time. It is unknown whether the cost was
	 * used.
	 */
	TIMEOUT,

	/**
	 * The request was not sent, because too many others were waiting, or its time ended
	 * before its turn. Nothing was used.
	 */
	OVERLOAD,

	/** There was no connection, or it was lost. */
	CONNECTION,

	/**
	 * A node of a cluster did not answer, or no node serves the slot, while other nodes
	 * answer. This is not an outage of the store: requests whose Redis keys are on other
	 * nodes are limited. It is unknown whether the cost was used.
	 */
	NODE,

	/** Redis is out of memory and may not evict any keys. */
	OOM,

	/** The server is a replica, which accepts no writes. */
	READONLY,

	/** The server has too few replicas to accept writes. */
	NOREPLICAS,

	/** The server is a replica that has lost its master and refuses reads. */
	MASTERDOWN,

	/** The cluster is not complete. */
	CLUSTERDOWN,

	/** Redis could not save its data and accepts no writes. */
	MISCONF,

	/** Another script is running for too long. */
	BUSY,

	/** Redis is still loading its data after a start. */
	LOADING,

	/** The server needs a password. */
	NOAUTH,

	/** The password is wrong. */
	WRONGPASS,

	/** The user lacks a permission. */
	NOPERM,

	/** The server does not keep scripts. */
	NOSCRIPT,

	/** A Redis key does not contain a count and could not be replaced. */
	WRONGTYPE,

	/** The reply is not one of a script of this library: is it a Redis server? */
	WRONG_REPLY,

	/** Another error of the server, such as an unknown command. */
	ERROR_REPLY,

	/** Anything else. */
	OTHER;

	private static final Map<String, RedisErrorKind> CODES = EnumSet.range(OOM, WRONGTYPE)
		.stream()
		.collect(Collectors.toMap(RedisErrorKind::name, Function.identity()));

	/** The error of a server that needs a password, for commands with many arguments. */
	private static final String TOO_LONG_WITHOUT_LOGIN = "ERR Protocol error: unauthenticated";

	/** The errors of Redis and Valkey if a script lacks a permission. */
	private static final List<String> FORBIDDEN_IN_SCRIPT = List.of("The user executing the script can't ",
			"ERR ACL failure in script");

	/** Returns the kind of a failure; {@link #OTHER} if it does not come from Redis. */
	public static RedisErrorKind of(StoreException exception) {
		boolean connection = false;
		for (Throwable cause = exception.getCause(); cause != null; cause = cause.getCause()) {
			if (cause instanceof CallException ex) {
				switch (ex.reason()) {
					case NODE:
						return NODE;
					case TOO_LATE, QUEUE_FULL:
						return OVERLOAD;
					case UNANSWERED:
						return TIMEOUT;
					case OUTAGE, SILENCE:
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
		return CODES.getOrDefault(ErrorText.code(message), ERROR_REPLY);
	}

	/**
	 * Returns whether the server did not answer, in contrast to answering with an error,
	 * and has to be probed until it does.
	 */
	public boolean isUnanswered() {
		return this == TIMEOUT || this == CONNECTION || this == NODE;
	}

	/** Returns the name of the kind in metrics, such as {@code wrong-reply}. */
	public String text() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
