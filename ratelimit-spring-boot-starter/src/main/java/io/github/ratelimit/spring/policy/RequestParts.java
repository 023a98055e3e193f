package io.github.ratelimit.spring.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.RateLimitRequest;

/**
 * Divides charges that are too many for one request of the store. A policy alone is never
 * too large, but an application may apply any number of policies to a request.
 */
final class RequestParts {

	private RequestParts() {
	}

	/**
	 * Divides charges in their order.
	 * @param charges the charges
	 * @param charge returns what is counted of each
	 * @return as few parts as possible, usually one
	 */
	static <T> List<List<T>> of(List<T> charges, Function<T, Charge> charge) {
		List<List<T>> parts = List.of();
		int start = 0;
		int statuses = 0;
		for (int i = 0; i < charges.size(); i++) {
			Charge each = charge.apply(charges.get(i));
			int own = each.policy().limits().size() * each.identifiers().size();
			if (statuses + own > RateLimitRequest.MAX_STATUSES && i > start) {
				parts = (start == 0) ? new ArrayList<>() : parts;
				parts.add(charges.subList(start, i));
				start = i;
				statuses = 0;
			}
			statuses += own;
		}
		if (start == 0) {
			return List.of(charges);
		}
		parts.add(charges.subList(start, charges.size()));
		return parts;
	}

	/** Returns one decision for the parts of a request that is allowed. */
	static Decision together(List<Decision> parts) {
		Decision first = parts.get(0);
		if (parts.size() == 1) {
			return first;
		}
		List<LimitStatus> statuses = parts.stream().flatMap((part) -> part.statuses().stream()).toList();
		List<Decision.Source> sources = parts.stream().map(Decision::source).toList();
		Decision.Source source = Stream.of(Decision.Source.LOCAL, Decision.Source.STORE)
			.filter(sources::contains)
			.findFirst()
			.orElse(first.source());
		return new Decision(true, statuses, null, source);
	}

}
