package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.spring.policy.ReadOnlyExpression;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/**
 * What expressions read of a request: {@code #request} and {@code #principal}.
 */
final class RequestVariables {

	static final String REQUEST = "request";

	static final String PRINCIPAL = "principal";

	/** What a principal is depends on how users log in. */
	private static final Map<String, Class<?>> TYPES = Map.of(REQUEST, HttpServletRequest.class, PRINCIPAL,
			Object.class);

	/** What of a request needs the user. */
	private static final Set<String> OF_USER = Set.of("userPrincipal", "getUserPrincipal", "remoteUser",
			"getRemoteUser", "authType", "getAuthType", "isUserInRole");

	private static final boolean SECURITY = ClassUtils.isPresent("org.springframework.security.core.Authentication",
			RequestVariables.class.getClassLoader());

	private RequestVariables() {
	}

	static ReadOnlyExpression parse(String text) {
		return ReadOnlyExpression.parse(text, TYPES);
	}

	static boolean needsUser(ReadOnlyExpression expression) {
		return expression.variables().contains(PRINCIPAL) || expression.namesAny(OF_USER);
	}

	static Map<String, @Nullable Object> of(HttpServletRequest request, @Nullable Principal user) {
		Map<String, @Nullable Object> values = new HashMap<>();
		values.put(REQUEST, request);
		values.put(PRINCIPAL, (SECURITY && user != null) ? Unwrapping.principal(user) : user);
		return values;
	}

	/** Apart, because Spring Security may be missing. */
	private static final class Unwrapping {

		private Unwrapping() {
		}

		static @Nullable Object principal(Principal principal) {
			return (principal instanceof Authentication authentication) ? authentication.getPrincipal() : principal;
		}

	}

}
