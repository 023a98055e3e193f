package io.github.ratelimit.spring;

/**
 * Changes policies while the application runs: other limits, another mode, other plans.
 * Declare a bean of this type to keep limits in a database, or behind a switch.
 * <p>
 * It is asked about every policy of every request, of paths and annotations alike, before
 * the plan of the user is looked up, and what it says holds for that request. So it must
 * be quick: read what changes elsewhere, and keep it. Of several such beans each gets
 * what the one before it said. Counts go on as long as the algorithm and the windows stay
 * the same.
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
	 * @return the policy to enforce, with the same name and identifiers; the given one if
	 * nothing is to change
	 */
	IdentifiedPolicy current(IdentifiedPolicy configured);

}
