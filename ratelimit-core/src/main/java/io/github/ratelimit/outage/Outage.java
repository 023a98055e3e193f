package io.github.ratelimit.outage;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.StoreException;

/**
 * A time in which the store fails, by the clock of this process.
 */
final class Outage {

	/** The policy that nobody else may have: its counts are reset. */
	static final String PROBE = "ratelimit-probe";

	private final Instant since;

	private volatile Instant latest;

	private volatile RateLimitRequest failed;

	private volatile StoreException failure;

	/**
	 * Begins.
	 * @param since the time of the first failure
	 * @param failed the request that failed
	 */
	Outage(Instant since, RateLimitRequest failed, StoreException failure) {
		this.since = since;
		this.latest = since;
		this.failed = failed;
		this.failure = failure;
	}

	/** Notes that another request has failed. */
	void goesOn(Instant now, RateLimitRequest request, StoreException failure) {
		this.latest = now;
		this.failed = request;
		this.failure = failure;
	}

	/** The last failure. */
	StoreException failure() {
		return this.failure;
	}

	Instant since() {
		return this.since;
	}

	/** The time of the last failure. */
	Instant latest() {
		return this.latest;
	}

	/**
	 * Whether a request has all policies of the one that failed last, with the same
	 * identifiers.
	 */
	boolean isProvedOverBy(RateLimitRequest request) {
		return identifiers(request).entrySet().containsAll(identifiers(this.failed).entrySet());
	}

	/**
	 * What is written where the charges that failed would have been, and like the first
	 * of them. Of quotas of nothing nothing would be written.
	 */
	Charge probe() {
		Policy policy = this.failed.charges().get(0).policy();
		List<Limit> limits = policy.limits()
			.stream()
			.map((limit) -> Limit.of(Math.max(1, limit.quota()), limit.window()))
			.toList();
		List<Identifier> identifiers = this.failed.charges()
			.stream()
			.flatMap((charge) -> charge.identifiers().stream())
			.distinct()
			.toList();
		return new Charge(new Policy(PROBE, policy.algorithm(), limits, false), identifiers, 1);
	}

	private static Map<String, List<Identifier>> identifiers(RateLimitRequest request) {
		return request.charges()
			.stream()
			.collect(Collectors.toMap((charge) -> charge.policy().name(), Charge::identifiers));
	}

}
