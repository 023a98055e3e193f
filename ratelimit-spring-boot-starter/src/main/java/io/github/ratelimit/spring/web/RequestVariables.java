package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.spring.expression.ReadOnlyExpression;
import io.github.ratelimit.spring.expression.ReadOnlyExpression.Variables;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/**
 * The variables of expressions on requests: {@code #request} and {@code #principal}.
 */
final class RequestVariables {

	static final String REQUEST = "request";

	static final String PRINCIPAL = "principal";

	/** The type of the principal depends on the login. */
	private static final Variables VARIABLES = new Variables(
			Map.of(REQUEST, ResolvableType.forClass(HttpServletRequest.class), PRINCIPAL, ResolvableType.NONE),
			"the variables #principal and #request", true);

	/** Members of a request that need the user. */
	private static final Set<String> OF_USER = Set.of("userPrincipal", "getUserPrincipal", "remoteUser",
			"getRemoteUser", "authType", "getAuthType", "isUserInRole");

	private static final boolean SECURITY = ClassUtils.isPresent("org.springframework.security.core.Authentication",
			RequestVariables.class.getClassLoader());

	private RequestVariables() {
	}

	static ReadOnlyExpression parse(String text) {
		return ReadOnlyExpression.parse("expression", text, VARIABLES);
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

	/** A separate class, because Spring Security is optional. */
	private static final class Unwrapping {

		private Unwrapping() {
		}

		static @Nullable Object principal(Principal principal) {
			return (principal instanceof Authentication authentication) ? authentication.getPrincipal() : principal;
		}

	}

}
