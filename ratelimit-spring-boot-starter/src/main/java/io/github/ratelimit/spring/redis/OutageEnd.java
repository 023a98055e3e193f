package io.github.ratelimit.spring.redis;

import java.time.Duration;

import io.github.ratelimit.redis.RedisListener;
import io.github.ratelimit.spring.policy.PolicyDecisions;

import org.springframework.beans.factory.ObjectProvider;

/**
 * Ends an outage as soon as Redis answers again, also in an application without requests.
 */
final class OutageEnd implements RedisListener {

	private final ObjectProvider<PolicyDecisions> decisions;

	OutageEnd(ObjectProvider<PolicyDecisions> decisions) {
		this.decisions = decisions;
	}

	@Override
	public void answersAgain(String server, Duration outage) {
		this.decisions.ifAvailable((decisions) -> decisions.outage().storeAnswers());
	}

}
