package io.github.ratelimit.redis.connection;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultRedisCredentials;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.RedisCredentialsProvider;
import redis.clients.jedis.authentication.AuthXManager;
import redis.clients.jedis.exceptions.JedisException;

/**
 * What connections log in with, which may change at any time. Its source is asked for
 * each connection, and once a minute in the background while connections are used: if it
 * answers something else then, each of them logs in again before its next calls.
 */
final class Login {

	private static final Logger logger = LoggerFactory.getLogger(Login.class);

	/** Those who issue tokens renew them minutes before they end. */
	static final long PAUSE = TimeUnit.MINUTES.toNanos(1);

	/** What a source that knows of no login answers, or {@code null}. */
	private static final RedisCredentials NOBODY = new DefaultRedisCredentials(null, (char[]) null);

	private final JedisClientConfig config;

	private final RedisCredentialsProvider source;

	private final long pause;

	private volatile long asked;

	/** Another object only after another answer. */
	private volatile RedisCredentials known = NOBODY;

	private volatile CompletableFuture<RedisCredentials> asking = CompletableFuture.completedFuture(this.known);

	Login(JedisClientConfig config, long pause) {
		this.config = config;
		this.pause = pause;
		AuthXManager tokens = config.getAuthXManager();
		this.source = (tokens != null) ? () -> {
			// Only the first start has an effect.
			tokens.start();
			return tokens.get();
		} : (config.getCredentialsProvider() instanceof RedisCredentialsProvider given) ? given
				: () -> config.getCredentialsProvider().get();
	}

	JedisClientConfig config(RedisCredentials login) {
		return DefaultJedisClientConfig.builder().from(this.config).authXManager(null).credentials(login).build();
	}

	/** Asks the source, which may take long, or fail with any exception. */
	synchronized RedisCredentials ask() {
		try {
			this.source.prepare();
			return take();
		}
		finally {
			this.asked = System.nanoTime();
		}
	}

	private RedisCredentials take() {
		try {
			RedisCredentials given = this.source.get();
			RedisCredentials answer = (given != null) ? given : NOBODY;
			char[] password = answer.getPassword();
			if (!Objects.equals(answer.getUser(), this.known.getUser())
					|| !Arrays.equals(password, this.known.getPassword())) {
				// A copy, because the source may wipe its own.
				this.known = new DefaultRedisCredentials(answer.getUser(),
						(password != null) ? password.clone() : null);
			}
			return this.known;
		}
		finally {
			this.source.cleanUp();
		}
	}

	/**
	 * Logs a connection in again if the login has changed. A connection whose new login
	 * is refused remains as it was.
	 * @param last what was tried last
	 * @return what was tried now
	 */
	RedisCredentials renew(Connection connection, @Nullable RedisCredentials last, long now) {
		if (now - this.asked > this.pause && this.asking.isDone()) {
			this.asking = CompletableFuture.supplyAsync(this::ask, BackgroundThread.each("ratelimit-login"))
				.whenComplete((login, ex) -> {
					if (ex != null) {
						logger.warn("The login of Redis is unknown, and connections keep theirs: {}", ex.toString());
					}
				});
		}
		RedisCredentials known = this.known;
		try {
			if (known != last) {
				connection.setCredentials(known);
				connection.reAuthenticate();
			}
		}
		catch (JedisException ex) {
			logger.warn("The new login of Redis is refused, and a connection keeps its own: {}", ex.getMessage());
		}
		return known;
	}

}
