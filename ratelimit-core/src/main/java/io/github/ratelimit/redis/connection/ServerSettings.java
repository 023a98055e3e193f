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
 * @param lasting how long a server must be silent, or break connections, before it is
 * known to be gone: longer than busy processors may bring that about
 */
public record ServerSettings(String name, Duration budget, int connections, int maxWaiting, Duration lasting) {

	public static final Duration SHORTEST = Duration.ofMillis(2);

	public static final Duration LONGEST = Duration.ofHours(1);

	public static final int MAX_CONNECTIONS = 64;

	public static final Duration LASTING = Duration.ofSeconds(1);

	public ServerSettings(String name, Duration budget, int connections, int maxWaiting) {
		this(name, budget, connections, maxWaiting, LASTING);
	}

	public ServerSettings {
		if (budget.compareTo(SHORTEST) < 0 || budget.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException("Invalid time budget (%s): must be from 2ms to 1h.".formatted(budget));
		}
		if (connections < 1 || connections > MAX_CONNECTIONS) {
			throw new IllegalArgumentException(
					"Invalid connections (%s): must be from 1 to %s.".formatted(connections, MAX_CONNECTIONS));
		}
		if (maxWaiting < 1) {
			throw new IllegalArgumentException("Invalid maxWaiting (%s): must be at least 1.".formatted(maxWaiting));
		}
	}

	public ServerSettings withName(String name) {
		return new ServerSettings(name, this.budget, this.connections, this.maxWaiting, this.lasting);
	}

}
