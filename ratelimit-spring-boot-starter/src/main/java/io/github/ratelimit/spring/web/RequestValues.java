package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.Arrays;
import java.util.Set;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpMethod;

/**
 * Values that identify requests.
 */
final class RequestValues {

	/**
	 * Replaces unknown methods, of which a client may invent any number.
	 */
	private static final String OTHER_METHOD = "*";

	private static final Set<HttpMethod> METHODS = Set.of(HttpMethod.values());

	private RequestValues() {
	}

	static @Nullable String user(HttpServletRequest request) {
		Principal principal = request.getUserPrincipal();
		return (principal != null) ? principal.getName() : null;
	}

	/** Returns GET for HEAD, which the same handlers serve. */
	static String method(HttpServletRequest request) {
		HttpMethod method = HttpMethod.valueOf(request.getMethod());
		if (method.equals(HttpMethod.HEAD)) {
			return HttpMethod.GET.name();
		}
		return METHODS.contains(method) ? method.name() : OTHER_METHOD;
	}

	static @Nullable String cookie(String name, HttpServletRequest request) {
		Cookie[] cookies;
		try {
			cookies = request.getCookies();
		}
		catch (IllegalArgumentException ex) {
			// There are more cookies than the container accepts.
			return null;
		}
		if (cookies == null) {
			return null;
		}
		return Arrays.stream(cookies)
			.filter((cookie) -> cookie.getName().equals(name))
			.findFirst()
			.map(Cookie::getValue)
			.orElse(null);
	}

}
