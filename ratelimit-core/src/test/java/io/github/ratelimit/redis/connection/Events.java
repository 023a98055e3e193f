package io.github.ratelimit.redis.connection;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import redis.clients.jedis.exceptions.JedisException;

/**
 * Notes what happens to a server.
 */
public class Events implements Listener {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final List<String> events = new CopyOnWriteArrayList<>();

	@Override
	public void opened(JedisException cause) {
		note("opened");
	}

	@Override
	public void closed(Duration duration) {
		note("closed");
	}

	@Override
	public void overloaded() {
		note("overloaded");
	}

	private synchronized void note(String event) {
		this.events.add(event);
		notifyAll();
	}

	public List<String> all() {
		return this.events;
	}

	/** Waits until an event has happened so many times, and returns how long it took. */
	public synchronized Duration await(String event, int times) {
		long start = System.nanoTime();
		long end = start + PATIENCE.toNanos();
		try {
			while (Collections.frequency(this.events, event) < times) {
				if (System.nanoTime() > end) {
					throw new IllegalStateException("Not " + event + ": " + this.events);
				}
				TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		return Duration.ofNanos(System.nanoTime() - start);
	}

}
