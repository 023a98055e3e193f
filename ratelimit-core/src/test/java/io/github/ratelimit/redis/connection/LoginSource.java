package io.github.ratelimit.redis.connection;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import redis.clients.jedis.DefaultRedisCredentials;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.RedisCredentialsProvider;

/**
 * A source of logins that keeps no password longer than it is needed.
 */
final class LoginSource implements RedisCredentialsProvider {

	/** How often it was asked. */
	final AtomicInteger asked = new AtomicInteger();

	/** What it answers next. */
	volatile Supplier<RedisCredentials> next;

	private final ThreadLocal<RedisCredentials> prepared = new ThreadLocal<>();

	LoginSource(RedisCredentials login) {
		set(login);
	}

	static RedisCredentials login(String user, String password) {
		return new DefaultRedisCredentials(user, password);
	}

	void set(RedisCredentials login) {
		this.next = () -> login(login.getUser(), new String(login.getPassword()));
	}

	@Override
	public void prepare() {
		this.asked.incrementAndGet();
		this.prepared.set(this.next.get());
	}

	@Override
	public RedisCredentials get() {
		return this.prepared.get();
	}

	@Override
	public void cleanUp() {
		Arrays.fill(this.prepared.get().getPassword(), '*');
	}

}
