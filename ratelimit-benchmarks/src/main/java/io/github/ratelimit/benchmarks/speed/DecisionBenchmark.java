package io.github.ratelimit.benchmarks.speed;

import java.net.URI;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

import io.github.ratelimit.benchmarks.MeasuredRedis;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import redis.clients.jedis.UnifiedJedis;

/**
 * A decision of one contender for one of ten thousand users. {@link Speed} runs it.
 */
@State(Scope.Benchmark)
@SuppressWarnings("NullAway.Init")
public class DecisionBenchmark {

	/** Name of the system property with the address of the server. */
	static final String SERVER = "ratelimit.benchmarks.server";

	static final List<String> USERS = IntStream.range(0, 10_000).mapToObj((i) -> "user-" + i).toList();

	/** Number of unexpected answers and exceptions. */
	static final LongAdder UNEXPECTED = new LongAdder();

	/** Name of the contender. */
	@Param(Contenders.PING)
	public String name;

	private Contender contender;

	/**
	 * Connects the contender to an empty server.
	 */
	@Setup
	public void connect() {
		URI server = server();
		try (UnifiedJedis client = MeasuredRedis.connect(server)) {
			client.flushAll();
		}
		this.contender = Contenders.create(this.name, server);
	}

	static URI server() {
		return URI.create(System.getProperty(SERVER));
	}

	/**
	 * Decides once.
	 */
	@Benchmark
	public void decide() {
		String user = USERS.get(ThreadLocalRandom.current().nextInt(USERS.size()));
		boolean expected = false;
		try {
			expected = this.contender.decide(user);
		}
		catch (RuntimeException ex) {
			// Counted, and shown in the table.
		}
		if (!expected) {
			UNEXPECTED.increment();
		}
	}

	/**
	 * Closes the contender.
	 */
	@TearDown
	public void close() {
		this.contender.close();
	}

}
