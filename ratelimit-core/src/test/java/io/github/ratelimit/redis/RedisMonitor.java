package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.ratelimit.test.TestRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisMonitor;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Sees what the test's server executes, by MONITOR. On a server that is shared, only the
 * scripts with a Redis key of the given prefix count, and what they call.
 */
final class RedisMonitor implements BeforeEachCallback, AfterEachCallback, AutoCloseable {

	/** Time, database and sender, command, arguments. */
	private static final Pattern LINE = Pattern.compile("[0-9.]+ \\[\\d+ ([^]]+)] \"(\\w+)\"(.*)");

	private static final Pattern ARGUMENT = Pattern.compile(" \"(.*?)\"(?= \"|$)");

	private final String keyPrefix;

	private final Jedis connection = new Jedis(TestRedis.uri());

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	/** A monitor that listens during each test where it is registered. */
	RedisMonitor(String keyPrefix) {
		this.keyPrefix = keyPrefix;
	}

	static RedisMonitor start(String keyPrefix) throws InterruptedException {
		RedisMonitor monitor = new RedisMonitor(keyPrefix);
		monitor.beforeEach(null);
		return monitor;
	}

	@Override
	public void beforeEach(@Nullable ExtensionContext context) throws InterruptedException {
		CountDownLatch started = new CountDownLatch(1);
		Thread thread = new Thread(() -> listen(started), "redis-monitor");
		thread.setDaemon(true);
		thread.start();
		if (!started.await(10, TimeUnit.SECONDS)) {
			throw new IllegalStateException("MONITOR did not start");
		}
	}

	@Override
	public void afterEach(ExtensionContext context) {
		close();
	}

	private void listen(CountDownLatch started) {
		try {
			this.connection.monitor(new JedisMonitor() {

				@Override
				public void proceed(Connection client) {
					started.countDown();
					super.proceed(client);
				}

				@Override
				public void onCommand(String command) {
					RedisMonitor.this.lines.add(command);
				}

			});
		}
		catch (JedisConnectionException ex) {
			// Closed: that is how a monitor ends.
		}
	}

	/**
	 * Returns the names of the commands since the last call: of a script first its own,
	 * and then of what it calls, behind a space.
	 */
	List<String> commands() throws InterruptedException {
		return executed().stream()
			.map((each) -> (each.script() ? " " : "") + each.words().get(0).toUpperCase(Locale.ROOT))
			.toList();
	}

	/**
	 * What was executed.
	 *
	 * @param script whether a script did that
	 * @param words the command and its arguments, where other characters than those of
	 * ASCII are escaped
	 */
	record Executed(boolean script, List<String> words) {

	}

	/** Returns the commands since the last call: of a script first its own. */
	List<Executed> executed() throws InterruptedException {
		String mark = "mark-" + UUID.randomUUID();
		TestRedis.client().exists(mark);
		List<Executed> commands = new ArrayList<>();
		boolean ours = false;
		while (true) {
			String line = this.lines.poll(10, TimeUnit.SECONDS);
			Matcher matcher = LINE.matcher(String.valueOf(line));
			if (!matcher.matches()) {
				throw new IllegalStateException("MONITOR said " + line);
			}
			boolean script = "lua".equals(matcher.group(1));
			if (!script) {
				ours = matcher.group(3).contains("\"" + this.keyPrefix + ":");
			}
			if (ours) {
				commands.add(new Executed(script, words(matcher.group(2), matcher.group(3))));
			}
			if (matcher.group(3).contains(mark)) {
				return commands;
			}
		}
	}

	/**
	 * The arguments stand in quotes. It is not looked at backslashes in front of quotes,
	 * as Valkey 8.1 does not escape them.
	 */
	private static List<String> words(String command, String arguments) {
		return Stream.concat(Stream.of(command), ARGUMENT.matcher(arguments).results().map((each) -> each.group(1)))
			.toList();
	}

	@Override
	public void close() {
		this.connection.close();
	}

}
