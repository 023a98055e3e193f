package io.github.ratelimit.spring.policy;

import java.util.List;

import io.github.ratelimit.Decision;
import io.github.ratelimit.spring.PolicyLimiter;

/**
 * Allows everything, while rate limiting is off.
 */
final class Unlimited implements PolicyLimiter {

	private static final Decision ALLOWED = new Decision(true, List.of());

	@Override
	public Acquisition tryAcquire(Use... uses) {
		return new Acquisition() {

			@Override
			public Decision decision() {
				return ALLOWED;
			}

			@Override
			public void end() {
			}

			@Override
			public void refund() {
			}

		};
	}

	@Override
	public Decision peek(Use... uses) {
		return ALLOWED;
	}

}
