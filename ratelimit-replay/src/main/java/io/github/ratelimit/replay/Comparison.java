package io.github.ratelimit.replay;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.replay.Log.Request;
import org.HdrHistogram.Histogram;

/**
 * Decides the requests of a log by policies, each by itself, and keeps what they denied.
 * Memory follows the number of clients.
 */
final class Comparison {

	private final List<Result> results;

	private final Timeline timeline;

	private final Map<Identifier, Client> clients = new HashMap<>();

	private Instant now = Instant.EPOCH;

	private final MemoryRateLimiter limiter = new MemoryRateLimiter(() -> this.now);

	/**
	 * Creates a comparison.
	 * @param policies policies of the same limits; details are kept of the first
	 */
	Comparison(List<Policy> policies) {
		this.results = policies.stream().map(Result::new).toList();
		this.timeline = new Timeline(1 + policies.size());
	}

	void add(Request request) {
		this.now = Log.time(request.micros());
		this.timeline.add(this.now, 0);
		Client client = this.clients.computeIfAbsent(request.client(), (key) -> new Client(key, this.results.size()));
		client.requests++;
		for (int i = 0; i < this.results.size(); i++) {
			Result result = this.results.get(i);
			Decision decision = this.limiter.tryAcquire(result.policy, client.identifier);
			if (!decision.allowed()) {
				client.limits[i] |= result.count(decision);
				this.timeline.add(this.now, i + 1);
				if (i == 0) {
					client.count(this.now, decision);
				}
			}
		}
	}

	List<Result> results() {
		return this.results;
	}

	/** Returns the requests over time, and behind them the denials by each policy. */
	Timeline timeline() {
		return this.timeline;
	}

	Collection<Client> clients() {
		return this.clients.values();
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
		private long count(Decision decision) {
			this.denied++;
			decision.retryAfter().ifPresent((wait) -> this.waits.recordValue(wait.toMillis()));
			long limits = 0;
			for (int i = 0; i < this.byLimit.length; i++) {
				if (decision.statuses().get(i).violated()) {
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

		/** The longest time to wait; zero if no time was ever enough. */
		Duration wait = Duration.ZERO;

		/** For each policy, a bit for each limit that denied something. */
		private final long[] limits;

		private Client(Identifier identifier, int policies) {
			this.identifier = identifier;
			this.limits = new long[policies];
		}

		private void count(Instant now, Decision decision) {
			this.denied++;
			this.firstDenied = now.isBefore(this.firstDenied) ? now : this.firstDenied;
			this.lastDenied = now.isAfter(this.lastDenied) ? now : this.lastDenied;
			Duration wait = decision.retryAfter().orElse(Duration.ZERO);
			this.wait = (wait.compareTo(this.wait) > 0) ? wait : this.wait;
		}

	}

}
