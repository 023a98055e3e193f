package io.github.ratelimit.redis;

import java.util.Objects;

import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.Batch.Session;
import org.jspecify.annotations.Nullable;

/**
 * The part of a request that lies on one slot, with a connection to the server that has
 * it, and the present attempt at it.
 */
final class Place implements AutoCloseable {

	private final RateLimitRequest request;

	private final Session session;

	private @Nullable Tallies tallies;

	Place(RateLimitRequest request, Link link) {
		this.request = request;
		this.session = new Session(link);
	}

	RateLimitRequest request() {
		return this.request;
	}

	Session session() {
		return this.session;
	}

	/** The present attempt. */
	Tallies tallies() {
		return Objects.requireNonNull(this.tallies);
	}

	/** Begins an attempt. */
	void tryAgain(Tallies tallies) {
		this.tallies = tallies;
	}

	@Override
	public void close() {
		this.session.close();
	}

}
