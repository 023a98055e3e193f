package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

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
import redis.clients.jedis.exceptions.JedisConnectionException;
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

	/** How long a source may take that is slow. */
	static final Duration LIMIT = Duration.ofSeconds(30);

	/** How long a file may be empty while it is replaced. */
	private static final long REPLACEMENT = TimeUnit.MILLISECONDS.toNanos(100);

	/** What a source that knows of no login answers, or {@code null}. */
	private static final RedisCredentials NOBODY = new DefaultRedisCredentials(null, (char[]) null);

	private final JedisClientConfig config;

	private final RedisCredentialsProvider source;

	private final long pause;

	private final Duration limit;

	private volatile long asked;

	/** Another object only after another answer. */
	private volatile RedisCredentials known = NOBODY;

	/** When the source was asked for that. */
	private long knownSince = System.nanoTime();

	/** The threads that wait for the source, which may be those of lanes and probes. */
	private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

	private volatile CompletableFuture<RedisCredentials> renewal = CompletableFuture.completedFuture(this.known);

	private volatile boolean closed;

	Login(JedisClientConfig config) {
		this(config, PAUSE, LIMIT);
	}

	/**
	 * @param pause how many nanoseconds pass between questions in the background
	 * @param limit how long the source may take
	 */
	Login(JedisClientConfig config, long pause, Duration limit) {
		this.config = config;
		this.pause = pause;
		this.limit = limit;
		AuthXManager tokens = config.getAuthXManager();
		this.source = (tokens != null) ? () -> {
			// Only the first start has an effect.
			tokens.start();
			return tokens.get();
		} : (config.getCredentialsProvider() instanceof RedisCredentialsProvider given) ? given
				: () -> config.getCredentialsProvider().get();
	}

	JedisClientConfig config(Supplier<RedisCredentials> login) {
		return DefaultJedisClientConfig.builder()
			.from(this.config)
			.authXManager(null)
			.credentialsProvider(login)
			.build();
	}

	/**
	 * Asks the source, which may fail with any exception, and is interrupted if it takes
	 * too long. Several threads may ask at once, so that each waits for its own answer
	 * only.
	 * @throws JedisConnectionException with a {@link TimeoutException} if the source took
	 * too long
	 */
	RedisCredentials ask() {
		long start = System.nanoTime();
		Thread thread = Thread.currentThread();
		CompletableFuture<Void> question = new CompletableFuture<>();
		CompletableFuture<Void> interruption = question.orTimeout(this.limit.toNanos(), TimeUnit.NANOSECONDS)
			.handle((answered, late) -> {
				if (late != null) {
					thread.interrupt();
				}
				return null;
			});
		this.waiting.add(thread);
		try {
			if (this.closed) {
				throw new JedisException("The connections are closed");
			}
			RedisCredentials answer = answer();
			if (isWithoutPassword(answer) && !isWithoutPassword(this.known) && !question.isDone()) {
				LockSupport.parkNanos(REPLACEMENT);
				answer = answer();
			}
			if (question.complete(null)) {
				return keep(answer, start);
			}
		}
		catch (RuntimeException ex) {
			if (question.complete(null)) {
				throw ex;
			}
		}
		finally {
			this.waiting.remove(thread);
			this.asked = System.nanoTime();
			question.complete(null);
			if (question.isCompletedExceptionally()) {
				// The next thing that this thread waits for must not be interrupted.
				interruption.join();
				Thread.interrupted();
			}
		}
		throw unanswered(this.limit);
	}

	static JedisConnectionException unanswered(Duration time) {
		String text = "The source of the login has not answered for " + time;
		return new JedisConnectionException(text, new TimeoutException(text));
	}

	/** Returns a copy, because the source may wipe its own. */
	private RedisCredentials answer() {
		this.source.prepare();
		try {
			RedisCredentials given = this.source.get();
			char[] password = (given != null) ? given.getPassword() : null;
			return (given == null) ? NOBODY
					: new DefaultRedisCredentials(given.getUser(), (password != null) ? password.clone() : null);
		}
		finally {
			this.source.cleanUp();
		}
	}

	private static boolean isWithoutPassword(RedisCredentials login) {
		return login.getPassword() == null || login.getPassword().length == 0;
	}

	/** Returns what is known then; an answer may be older than that. */
	private synchronized RedisCredentials keep(RedisCredentials answer, long since) {
		if (since - this.knownSince >= 0) {
			this.knownSince = since;
			if (!Objects.equals(answer.getUser(), this.known.getUser())
					|| !Arrays.equals(answer.getPassword(), this.known.getPassword())) {
				if (isWithoutPassword(answer) && !isWithoutPassword(this.known)) {
					logger.warn("The login of Redis has no password any more. If there is one, let its source fail "
							+ "while it does not know it: a property without a default keeps the login as it was");
				}
				this.known = answer;
			}
		}
		return this.known;
	}

	/**
	 * Logs a connection in again if the login has changed. A connection whose new login
	 * is refused remains as it was.
	 * @param last what was tried last
	 * @return what was tried now
	 */
	RedisCredentials renew(Connection connection, @Nullable RedisCredentials last, long now) {
		if (isRenewalDue(now)) {
			renewInBackground(now);
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

	private boolean isRenewalDue(long now) {
		return now - this.asked > this.pause && this.renewal.isDone();
	}

	private void renewInBackground(long now) {
		CompletableFuture<RedisCredentials> next = new CompletableFuture<>();
		synchronized (this) {
			if (!isRenewalDue(now)) {
				return;
			}
			this.renewal = next;
		}
		next.whenComplete((login, ex) -> {
			if (ex != null && !this.closed) {
				logger.warn("The login of Redis is unknown, and connections keep theirs: {}", ex.toString());
			}
		});
		next.completeAsync(this::ask, BackgroundThread.each("ratelimit-login"));
	}

	boolean isAskedBy(Thread thread) {
		return this.waiting.contains(thread);
	}

	boolean isAwaited() {
		return !this.waiting.isEmpty();
	}

	/** Waits for the source that is asked in the background, but not for ever. */
	void awaitRenewal(long end) {
		try {
			this.renewal.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("The login of Redis is unknown", ex);
		}
	}

	/** Interrupts all threads that wait for the source, which is not asked again. */
	void close() {
		this.closed = true;
		this.waiting.forEach(Thread::interrupt);
	}

}
