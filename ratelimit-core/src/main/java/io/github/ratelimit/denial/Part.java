package io.github.ratelimit.denial;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;

/**
 * What a request asks of one account.
 *
 * @param account who is counted
 * @param policy the policy with its quotas, since other quotas might allow the cost
 * @param cost what is asked for
 */
record Part(Account account, Policy policy, long cost) {

	static List<Part> of(RateLimitRequest request) {
		List<Part> parts = new ArrayList<>();
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				parts.add(new Part(new Account(charge.policy().name(), identifier), charge.policy(), charge.cost()));
			}
		}
		return parts;
	}

	/** Whether a status is one of the policy's limits for who is counted. */
	boolean isOf(LimitStatus status) {
		return status.policy().name().equals(this.account.policy())
				&& status.identifier().equals(this.account.identifier());
	}

	/** Whether all limits could allow the cost some time. */
	boolean isPossible() {
		return this.policy.limits()
			.stream()
			.allMatch((limit) -> this.cost <= this.policy.algorithm().largestCost(limit));
	}

}
