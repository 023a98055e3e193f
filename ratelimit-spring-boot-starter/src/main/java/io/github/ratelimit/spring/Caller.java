package io.github.ratelimit.spring;

import io.github.ratelimit.Identifier;
import org.jspecify.annotations.Nullable;

/**
 * The client that makes a request or calls a method, with the identifiers that are known
 * at the time.
 * <p>
 * Valid only while the request or call is being decided, and only on the thread that
 * decides it.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface Caller {

	/** A caller without any known identifier. */
	Caller UNKNOWN = (identifier) -> null;

	/**
	 * Finds an identifier of the caller. No policy needs to use it.
	 * @param identifier an identifier as in configuration, such as {@code user},
	 * {@code header:X-Tenant}, the name of one that the application defines, or
	 * {@code #tenant} if a method uses this expression as an identifier
	 * @return the identifier with its value; {@code null} if the caller has none or if it
	 * is not known yet, such as the user before the login
	 * @throws IllegalArgumentException if requests cannot have such an identifier
	 */
	@Nullable Identifier find(String identifier);

}
