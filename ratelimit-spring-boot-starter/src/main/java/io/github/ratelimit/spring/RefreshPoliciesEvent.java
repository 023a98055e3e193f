package io.github.ratelimit.spring;

import java.io.Serial;

import org.springframework.context.ApplicationEvent;

/**
 * Publish this event once the environment has changed, to have the policies read from it
 * again: {@code publisher.publishEvent(new RefreshPoliciesEvent(this))}.
 * <p>
 * When publishing returns, the next request is decided by the new limits, algorithms,
 * plans, modes and so on. If one of them is invalid, all policies stay as they were, and
 * the log says what is wrong. What needs a restart (identifiers, paths and their costs,
 * policies that come or go, everything else below {@code ratelimit}) stays as it was as
 * well, and the log says so.
 *
 * @since 0.1
 */
public class RefreshPoliciesEvent extends ApplicationEvent {

	@Serial
	private static final long serialVersionUID = 1L;

	/**
	 * Creates an event.
	 * @param source who publishes it
	 */
	public RefreshPoliciesEvent(Object source) {
		super(source);
	}

}
