package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.Arrays;
import java.util.Set;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpMethod;

/**
 * What of a request identifies it.
 */
final class RequestValues {

	/**
	 * Methods that HTTP does not know, of which a client may invent as many as it likes.
	 */
	private static final String OTHER_METHOD = "*";

	private static final Set<HttpMethod> METHODS = Set.of(HttpMethod.values());

	private RequestValues() {
	}

	static @Nullable String user(HttpServletRequest request) {
		Principal principal = request.getUserPrincipal();
		return (principal != null) ? principal.getName() : null;
	}

	/** Handlers of GET serve HEAD as well. */
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
			// There are more than the container wants to read.
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
