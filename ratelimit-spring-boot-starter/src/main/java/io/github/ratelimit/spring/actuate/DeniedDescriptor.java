package io.github.ratelimit.spring.actuate;

import java.util.List;
import java.util.Locale;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.Outcome;

/**
 * What the endpoint says of an identifier whose requests were denied lately.
 *
 * @param policy name of the policy
 * @param identifier the identifier, with a hash instead of its value if there is a secret
 * @param outcome {@code denied}, {@code blocked} or {@code shadow-denied}
 * @param requests how many requests were denied
 * @param byMinute how many in each minute; the last is the present one
 */
record DeniedDescriptor(String policy, String identifier, String outcome, long requests, List<Long> byMinute) {

	static DeniedDescriptor of(String policy, Identifier identifier, Outcome outcome, List<Long> byMinute) {
		return new DeniedDescriptor(policy, identifier.toString(),
				outcome.name().toLowerCase(Locale.ROOT).replace('_', '-'),
				byMinute.stream().mapToLong(Long::longValue).sum(), byMinute);
	}

}
