package io.github.ratelimit.spring;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Resolves an identifier that the application defines. The name of the bean is the name
 * of the identifier in configuration and annotations. It is also the type of the
 * {@link io.github.ratelimit.Identifier Identifier}.
 * <p>
 * It is called for each limited request, so it should be fast. If it throws an exception,
 * the identifier is missing; this is logged once.
 * <p>
 * Implementations must be safe for use by several threads.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface IdentifierResolver {

	/**
	 * Returns the value of the identifier for a request.
	 * @param request the request. What reads its body, as {@code getParameter} does for a
	 * form, takes it from a handler that reads the stream
	 * @return the value, of any length; {@code null} or blank if the request has none
	 */
	@Nullable String resolve(HttpServletRequest request);

	/**
	 * Returns whether the identifier is known only after the login. It is then counted
	 * after Spring Security has authenticated the request, otherwise before. If it does,
	 * it has no value without a user: return {@code false} for a value of another kind,
	 * such as an attribute of the session. By default, {@code false}.
	 */
	default boolean needsUser() {
		return false;
	}

}
