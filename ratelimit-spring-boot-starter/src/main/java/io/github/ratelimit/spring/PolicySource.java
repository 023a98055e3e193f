package io.github.ratelimit.spring;

import io.github.ratelimit.spring.policy.IdentifiedPolicy;

/**
 * Changes policies while the application runs: other limits, another mode, other plans,
 * for all callers or for some. Declare a bean of this type to keep limits in a database,
 * behind a feature flag, or by tenant:
 *
 * <pre>{@code
 * PolicySource limitsOfTenants(Tenants tenants) {
 *     return (policy, caller) -> {
 *         Identifier tenant = caller.find("header:X-Tenant");
 *         List<Limit> limits = (tenant != null) ? tenants.limits(tenant.value()) : null;
 *         return (limits != null) ? policy.withLimits(limits) : policy;
 *     };
 * }
 * }</pre>
 * <p>
 * It is called for every policy of every request, before the plan of the user is looked
 * up, and the result applies to that request only. It must be quick: load and cache the
 * limits elsewhere. If there are several such beans, each receives the result of the
 * previous one. Counts continue as long as the algorithm and the windows stay the same.
 * <p>
 * For a path it is called before the login, when the user is unknown, and again after the
 * login if one of the policy's identifiers needs the user, or if the policy has plans.
 * <p>
 * A result that cannot be enforced leaves the policy unchanged: an exception,
 * {@code null}, another name, other identifiers, a missing identifier other than
 * {@code skip}, {@code deny} or {@code ip}, or an algorithm that the store does not
 * support. This is logged once for each policy.
 * <p>
 * Plans apply to the users of web requests, even if the configured policy has none; the
 * policy is then enforced on paths after the login. They need {@code ratelimit.plan} or a
 * {@link PlanResolver}; otherwise no user has a plan, and this is logged once.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface PolicySource {

	/**
	 * Returns the policy to enforce now, such as {@code configured.withLimits(limits)}.
	 * @param configured the policy as configured
	 * @param caller the caller of the request or method; {@link Caller#UNKNOWN} for the
	 * endpoint and the health of the application, which show the policy independently of
	 * a caller
	 * @return the policy to enforce, with the same name and identifiers; the given one if
	 * nothing changes
	 */
	IdentifiedPolicy current(IdentifiedPolicy configured, Caller caller);

}
