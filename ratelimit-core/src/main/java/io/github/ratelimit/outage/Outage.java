package io.github.ratelimit.outage;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.StoreException;

/**
 * A period in which the store fails, by the clock of this process.
 *
 * @param since the time of the first failure
 * @param latest the time of the last failure
 * @param request the request that failed last
 * @param failure the reason
 */
record Outage(Instant since, Instant latest, RateLimitRequest request, StoreException failure) {

	private static final Duration LONG_AGO = Duration.ofSeconds(10);

	/**
	 * Returns whether the outage is over because the store has allowed a request: one
	 * with the policies and identifiers of the request that failed last, or any request
	 * if the last failure was long ago.
	 */
	boolean isOver(RateLimitRequest allowed, Instant now) {
		return identifiers(allowed).entrySet().containsAll(identifiers(this.request).entrySet())
				|| !now.isBefore(this.latest.plus(LONG_AGO));
	}

	private static Map<String, List<Identifier>> identifiers(RateLimitRequest request) {
		return request.charges()
			.stream()
			.collect(Collectors.toMap((charge) -> charge.policy().name(), Charge::identifiers));
	}

}
