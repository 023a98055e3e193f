package io.github.ratelimit.replay;

import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.MeterState;
import io.github.ratelimit.Policy;
import io.github.ratelimit.replay.Log.Request;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Decides the requests of a log by policies, each by itself, and keeps what they denied.
 * Memory follows the number of clients.
 */
final class Comparison {

	private static final int SMALLEST_SWEEP = 1024;

	final List<Result> results;

	/** The requests over time, and behind them the denials by each policy. */
	final Timeline timeline;

	final Map<Identifier, Client> clients = new HashMap<>();

	/** Requests until what no longer matters is forgotten. */
	private int untilSweep = SMALLEST_SWEEP;

	/**
	 * Creates a comparison.
	 * @param policies policies of the same limits; details are kept of the first
	 */
	Comparison(List<Policy> policies) {
		this.results = policies.stream().map(Result::new).toList();
		this.timeline = new Timeline(1 + policies.size());
	}

	void add(Request request) {
		long now = request.micros();
		this.timeline.add(now / 1_000_000, 0);
		Client client = this.clients.computeIfAbsent(request.client(), (key) -> new Client(key, this.results.size()));
		client.requests++;
		for (int i = 0; i < this.results.size(); i++) {
			Result result = this.results.get(i);
			Attempt attempt = client.attempt(i, result.policy, now);
			if (attempt.retryAfter() > 0) {
				client.limits[i] |= result.count(attempt);
				this.timeline.add(now / 1_000_000, i + 1);
				if (i == 0) {
					client.count(Log.time(now), attempt);
				}
			}
		}
		this.untilSweep--;
		if (this.untilSweep == 0) {
			this.clients.values().forEach((one) -> one.forget(now));
			this.untilSweep = SMALLEST_SWEEP + this.clients.size() / 4;
		}
	}

	/**
	 * Returns how many clients a policy denied.
	 * @param limits a bit for each limit that is meant
	 */
	long clientsDenied(int policy, long limits) {
		return this.clients.values().stream().filter((client) -> (client.limits[policy] & limits) != 0).count();
	}

	/** What one policy denied. */
	static final class Result {

		final Policy policy;

		/** Times until the same request would have been allowed, in milliseconds. */
		final Histogram waits = new Histogram(3);

		/** Requests denied by each limit; a request may violate several. */
		final long[] byLimit;

		long denied;

		private Result(Policy policy) {
			this.policy = policy;
			this.byLimit = new long[policy.limits().size()];
		}

		/** Returns a bit for each limit that is violated. */
		private long count(Attempt attempt) {
			this.denied++;
			if (attempt.retryAfter() != Attempt.NEVER) {
				this.waits.recordValue(attempt.retryAfter() / 1000);
			}
			long limits = 0;
			for (int i = 0; i < this.byLimit.length; i++) {
				if (attempt.waits()[i] > 0) {
					this.byLimit[i]++;
					limits |= 1L << i;
				}
			}
			return limits;
		}

	}

	/** A client, and what the first policy denied it. */
	static final class Client {

		final Identifier identifier;

		long requests;

		long denied;

		Instant firstDenied = Instant.MAX;

		Instant lastDenied = Instant.MIN;

		/** The longest time to wait, in microseconds; 0 if no time was ever enough. */
		long wait;

		/** For each policy, a bit for each limit that denied something. */
		private final long[] limits;

		/** What is used of each policy. */
		private final @Nullable MeterState[] states;

		/** Until when that matters, in microseconds. */
		private long kept;

		private Client(Identifier identifier, int policies) {
			this.identifier = identifier;
			this.limits = new long[policies];
			this.states = new @Nullable MeterState[policies];
		}

		private Attempt attempt(int index, Policy policy, long now) {
			Attempt attempt = Attempt.make(policy, this.states[index], now);
			if (attempt.isChange()) {
				this.kept = Math.max(this.kept, now + attempt.meter().ttl());
				this.states[index] = attempt.meter().state();
			}
			return attempt;
		}

		private void forget(long now) {
			if (this.kept <= now) {
				Arrays.fill(this.states, null);
			}
		}

		private void count(Instant now, Attempt attempt) {
			this.denied++;
			this.firstDenied = now.isBefore(this.firstDenied) ? now : this.firstDenied;
			this.lastDenied = now.isAfter(this.lastDenied) ? now : this.lastDenied;
			long wait = (attempt.retryAfter() != Attempt.NEVER) ? attempt.retryAfter() : 0;
			this.wait = Math.max(this.wait, wait);
		}

	}

}
