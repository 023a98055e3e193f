package io.github.ratelimit.spring;

import java.security.Principal;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Returns the plan of a user, such as {@code free} or {@code pro}. Declare a bean of this
 * type, or set {@code ratelimit.plan}.
 * <p>
 * It is called once per user within {@code ratelimit.plan-cache-ttl}. Requests without a
 * user have no plan. If it throws an exception, a user whose plan is not cached has no
 * plan, and the limits of the policy itself apply. The failure is logged once, and so is
 * the recovery.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface PlanResolver {

	/**
	 * Returns the plan of a user.
	 * @param user the user who has logged in and makes the request
	 * @param request the request
	 * @return the name of the plan, exactly as in the policies; {@code null} or empty if
	 * there is none
	 */
	@Nullable String resolve(Principal user, HttpServletRequest request);

}
