package io.github.ratelimit.spring;

import java.io.Serial;

import org.springframework.context.ApplicationEvent;

/**
 * Publish this event after the environment has changed, to read the policies from it
 * again: {@code publisher.publishEvent(new RefreshPoliciesEvent(this))}.
 * <p>
 * When publishing returns, the next request is decided by the new limits, algorithms,
 * plans, modes and so on. If one of them is invalid, all policies stay as they were, and
 * the error is logged. Identifiers, paths and their costs, added or removed policies, and
 * everything else below {@code ratelimit} need a restart: they also stay as they were,
 * and this is logged.
 *
 * @since 0.1
 */
public class RefreshPoliciesEvent extends ApplicationEvent {

	@Serial
	private static final long serialVersionUID = 1L;

	/** Creates an event of the object that publishes it. */
	public RefreshPoliciesEvent(Object source) {
		super(source);
	}

}
