package io.github.ratelimit.spring;

import java.security.Principal;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which plan a user is on, such as {@code free} or {@code pro}. Declare a bean
 * of this type, or set {@code ratelimit.plan}.
 * <p>
 * It is asked once for each user in {@code ratelimit.plan-cache-ttl}, not for requests
 * without a user: those have no plan. While it throws exceptions nobody has a plan whose
 * answer is not kept, so that the limits of the policy itself count; the log says so
 * once, and once when it answers again.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface PlanResolver {

	/**
	 * Returns the plan of a user.
	 * @param user who makes the request, and has logged in
	 * @param request the request
	 * @return the name of the plan, exactly as policies have it; {@code null} or empty if
	 * there is none
	 */
	@Nullable String resolve(Principal user, HttpServletRequest request);

}
