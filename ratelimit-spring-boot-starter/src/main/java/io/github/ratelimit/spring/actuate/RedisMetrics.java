package io.github.ratelimit.spring.actuate;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.redis.RedisListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/**
 * Measures calls of Redis: the number of decisions in a round trip, the time until Redis
 * has answered them, and the number of decisions that are not accepted because too many
 * others wait.
 * <p>
 * Safe for use by several threads.
 */
final class RedisMetrics implements RedisListener {

	/**
	 * Name of the timer of round trips.
	 */
	public static final String ROUND_TRIPS = "ratelimit.redis.round-trips";

	/**
	 * Name of the summary of the decisions and other calls in a round trip.
	 */
	public static final String CALLS = "ratelimit.redis.calls";

	/**
	 * Name of the counter of calls that were not accepted.
	 */
	public static final String QUEUE_FULL = "ratelimit.redis.queue-full";

	private final MeterRegistry registry;

	private final Map<String, Meters> servers = new ConcurrentHashMap<>();

	/**
	 * Creates metrics.
	 * @param registry the registry of the meters
	 */
	public RedisMetrics(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void queueFull(String server) {
		meters(server).queueFull().increment();
	}

	@Override
	public void answered(String server, int calls, Duration time) {
		Meters meters = meters(server);
		meters.roundTrips().record(time);
		meters.calls().record(calls);
	}

	private Meters meters(String server) {
		return this.servers.computeIfAbsent(server, this::register);
	}

	private Meters register(String server) {
		return new Meters(
				Timer.builder(ROUND_TRIPS)
					.description("Round trips to Redis, from the first byte sent to the last byte received")
					.tag("server", server)
					.register(this.registry),
				DistributionSummary.builder(CALLS)
					.description("Decisions and other calls in a round trip")
					.tag("server", server)
					.register(this.registry),
				Counter.builder(QUEUE_FULL)
					.description("Decisions that were not accepted because too many others waited")
					.tag("server", server)
					.register(this.registry));
	}

	private record Meters(Timer roundTrips, DistributionSummary calls, Counter queueFull) {
	}

}
