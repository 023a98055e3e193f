package io.github.ratelimit.benchmarks.speed;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import io.github.ratelimit.benchmarks.MeasuredRedis;
import io.github.ratelimit.benchmarks.ServerSample;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import redis.clients.jedis.UnifiedJedis;

/**
 * Adds the number of decisions per second, and their cost for the server, to the results
 * of JMH.
 */
public final class RedisProfiler implements InternalProfiler {

	static final String DECISIONS = "decisions";

	static final String CPU = "redis.cpu";

	static final String SCRIPT = "redis.script";

	static final String READS = "redis.reads";

	static final String UNEXPECTED = "unexpected";

	/** Prefix of a result, followed by the name of a command. */
	static final String COMMAND = "redis.command.";

	private @Nullable UnifiedJedis client;

	private @Nullable ServerSample before;

	private long nanos;

	@Override
	public String getDescription() {
		return "Time and commands of Redis";
	}

	@Override
	public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
		if (this.client == null) {
			this.client = MeasuredRedis.connect(DecisionBenchmark.server());
		}
		DecisionBenchmark.UNEXPECTED.reset();
		this.before = ServerSample.take(this.client);
		this.nanos = System.nanoTime();
	}

	@Override
	public Collection<? extends Result<?>> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
			IterationResult result) {
		if (this.client == null || this.before == null) {
			throw new IllegalStateException("The iteration has not begun.");
		}
		double seconds = (System.nanoTime() - this.nanos) / 1e9;
		ServerSample done = ServerSample.take(this.client).since(this.before);
		double decisions = Math.max(1, result.getMetadata().getAllOps());
		double script = done.commands().command("evalsha").micros() + done.commands().command("eval").micros();
		List<ScalarResult> results = new ArrayList<>();
		results.add(result(DECISIONS, decisions / seconds));
		results.add(result(CPU, done.cpuMicros() / decisions));
		results.add(result(SCRIPT, script / decisions));
		results.add(result(READS, done.reads() / decisions));
		results.add(result(UNEXPECTED, DecisionBenchmark.UNEXPECTED.sum() / decisions));
		done.commands()
			.commands()
			.forEach((name, command) -> results.add(result(COMMAND + name, command.calls() / decisions)));
		return results;
	}

	private static ScalarResult result(String name, double value) {
		return new ScalarResult(name, value, "", AggregationPolicy.AVG);
	}

}
