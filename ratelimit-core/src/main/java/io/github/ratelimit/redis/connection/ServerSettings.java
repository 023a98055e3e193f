package io.github.ratelimit.redis.connection;

import java.time.Duration;

/**
 * How a {@link Server} is used.
 *
 * @param name names the server in logs and messages
 * @param budget how long callers wait, and how long a server may be silent before it is
 * unavailable, from {@link #SHORTEST} to {@link #LONGEST}
 * @param connections how many connections there are at most, from 1 to
 * {@link #MAX_CONNECTIONS}
 * @param maxWaiting how many calls may wait to be sent, at least 1
 */
public record ServerSettings(String name, Duration budget, int connections, int maxWaiting) {

	/** Shortest budget. */
	public static final Duration SHORTEST = Duration.ofMillis(2);

	/** Longest budget. */
	public static final Duration LONGEST = Duration.ofHours(1);

	/** Most connections. */
	public static final int MAX_CONNECTIONS = 64;

	/** Validates the ranges. */
	public ServerSettings {
		if (budget.compareTo(SHORTEST) < 0 || budget.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException("Invalid time budget (%s): must be from 2ms to 1h.".formatted(budget));
		}
		if (connections < 1 || connections > MAX_CONNECTIONS) {
			throw new IllegalArgumentException(
					"Invalid connections (%d): must be from 1 to %d.".formatted(connections, MAX_CONNECTIONS));
		}
		if (maxWaiting < 1) {
			throw new IllegalArgumentException("Invalid maxWaiting (%d): must be at least 1.".formatted(maxWaiting));
		}
	}

	/** Returns the same settings for another server. */
	public ServerSettings withName(String name) {
		return new ServerSettings(name, this.budget, this.connections, this.maxWaiting);
	}

}
