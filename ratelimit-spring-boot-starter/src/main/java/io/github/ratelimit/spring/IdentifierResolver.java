package io.github.ratelimit.spring;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * An identifier of the application's own: finds out who makes a request. The name of the
 * bean is that of the identifier, in configuration as in annotations; it is also the type
 * of the {@link io.github.ratelimit.Identifier Identifier}.
 * <p>
 * It is asked for each limited request, so it should be fast. If it throws an exception
 * the identifier is missing, and the log says so once.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface IdentifierResolver {

	/**
	 * Returns whom a request is to be counted for.
	 * @param request the request
	 * @return the value of the identifier, of any length; {@code null} or blank if the
	 * request has none
	 */
	@Nullable String resolve(HttpServletRequest request);

	/**
	 * Returns whether the identifier is known only once the user has logged in. Policies
	 * with such an identifier are enforced after Spring Security, the others before it.
	 * @return whether it needs the user; {@code false} unless said otherwise
	 */
	default boolean needsUser() {
		return false;
	}

}
