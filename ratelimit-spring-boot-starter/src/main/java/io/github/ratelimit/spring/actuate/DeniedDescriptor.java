package io.github.ratelimit.spring.actuate;

import java.util.List;
import java.util.Locale;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.PolicyDecision.Outcome;

/**
 * The recently denied requests of an identifier.
 *
 * @param policy name of the policy
 * @param identifier the identifier, with a hash instead of its value if a secret is set
 * @param outcome {@code denied}, {@code blocked} or {@code shadow-denied}
 * @param requests number of denied requests
 * @param byMinute number of denied requests in each minute; the last is the current one
 */
record DeniedDescriptor(String policy, String identifier, String outcome, long requests, List<Long> byMinute) {

	static DeniedDescriptor of(String policy, Identifier identifier, Outcome outcome, List<Long> byMinute) {
		return new DeniedDescriptor(policy, identifier.toString(),
				outcome.name().toLowerCase(Locale.ROOT).replace('_', '-'),
				byMinute.stream().mapToLong(Long::longValue).sum(), byMinute);
	}

}
