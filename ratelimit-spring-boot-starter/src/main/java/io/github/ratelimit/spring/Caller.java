package io.github.ratelimit.spring;

import io.github.ratelimit.Identifier;
import org.jspecify.annotations.Nullable;

/**
 * Who makes a request, or calls a method, as far as that is known at the time.
 * <p>
 * Of use only while the request or call is being decided, by the thread that decides it.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface Caller {

	/**
	 * A caller of whom nothing is known.
	 */
	Caller UNKNOWN = (identifier) -> null;

	/**
	 * Finds an identifier of the caller, also one that no policy counts by.
	 * @param identifier an identifier as in configuration, such as {@code user},
	 * {@code header:X-Tenant}, the name of one of the application's own, or
	 * {@code #tenant} where a method has it as an identifier
	 * @return the identifier with its value; {@code null} if the caller has none, or it
	 * is not known yet, as users are not before they have logged in
	 * @throws IllegalArgumentException if requests cannot have such an identifier
	 */
	@Nullable Identifier find(String identifier);

}
