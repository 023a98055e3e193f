package io.github.ratelimit.spring.web;

import io.github.ratelimit.Identifier;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who makes a request.
 * <p>
 * Implementations are safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
interface IdentifierResolver {

	/**
	 * Returns the identifier of a request.
	 * @param request the request
	 * @return the identifier; {@code null} if the request has none of this kind
	 */
	@Nullable Identifier resolve(HttpServletRequest request);

}
