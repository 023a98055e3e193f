package io.github.ratelimit.redis.connection;

import java.io.Serial;

import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Thrown if no connection can be made; names the address, which the cause does not. */
public final class UnreachableException extends JedisConnectionException {

	@Serial
	private static final long serialVersionUID = 1L;

	UnreachableException(HostAndPort server, Throwable cause) {
		super("Failed to connect to " + server, cause);
	}

}
