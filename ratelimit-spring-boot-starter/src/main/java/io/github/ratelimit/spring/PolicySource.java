package io.github.ratelimit.spring;

/**
 * Changes policies while the application runs: other limits, another mode, other plans,
 * for everybody or by who is asking. Declare a bean of this type to keep limits in a
 * database, behind a switch, or by tenant:
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
 * It is asked about every policy of every request, of paths and annotations alike, before
 * the plan of the user is looked up, and all that it says holds for that request only. So
 * it must be quick: read what changes elsewhere, and keep it. Of several such beans each
 * gets what the one before it said. Counts go on as long as the algorithm and the windows
 * stay the same.
 * <p>
 * For a path it is asked before the login, when nobody knows the user, and again after
 * it, if a part of the policy is decided only then: because one of its identifiers needs
 * the user, or it has plans. The later answer counts for that part.
 * <p>
 * An answer that cannot be enforced (an exception, {@code null}, another name, other
 * identifiers, another identifier than {@code ip} for requests that lack theirs, an
 * algorithm that the store does not support) leaves the policy as it was. The log says so
 * once, and once when there was no such answer for a minute.
 * <p>
 * Plans count for the users of web requests, also where the configured policy has none.
 * From then on the policy is enforced on paths after the login. Somebody must say which
 * plan a user is on: {@code ratelimit.plan}, or a bean of type
 * {@link io.github.ratelimit.spring.PlanResolver}; nobody has one otherwise, and the log
 * says so once.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface PolicySource {

	/**
	 * Returns a policy as it is to be enforced now, such as
	 * {@code configured.withLimits(limits)}.
	 * @param configured the policy as it is configured
	 * @param caller who makes the request, or calls the method; {@link Caller#UNKNOWN}
	 * for the endpoint and the health of the application, which show the policy as it is
	 * for nobody in particular
	 * @return the policy to enforce, with the same name and identifiers; the given one if
	 * nothing is to change
	 */
	IdentifiedPolicy current(IdentifiedPolicy configured, Caller caller);

}
