package io.github.ratelimit.spring.web.identify;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpMethod;
import org.springframework.util.StringUtils;
import org.springframework.web.util.WebUtils;

/**
 * Values that identify requests.
 */
final class RequestValues {

	/** Replaces unknown methods, of which a client may invent any number. */
	private static final String OTHER_METHOD = "*";

	private static final Set<HttpMethod> METHODS = Set.of(HttpMethod.values());

	private static final char REPLACEMENT = '\uFFFD';

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
		try {
			Cookie cookie = WebUtils.getCookie(request, name);
			return (cookie != null) ? cookie.getValue() : null;
		}
		catch (IllegalArgumentException ex) {
			// There are more cookies than the container accepts.
			return null;
		}
	}

	/**
	 * Returns the parameters in the query of a request, and none of its body, which stays
	 * unread. Decodes them as servlet containers do: plus signs are blanks, percent signs
	 * begin bytes of UTF-8, and the first of several values counts.
	 * @return the values by their names; a value that cannot be decoded is missing
	 */
	static Map<String, String> query(HttpServletRequest request) {
		String query = request.getQueryString();
		if (query == null) {
			return Map.of();
		}
		Map<String, String> values = new HashMap<>();
		for (String pair : query.split("&")) {
			int end = pair.indexOf('=');
			String name = decode((end >= 0) ? pair.substring(0, end) : pair);
			String value = decode((end >= 0) ? pair.substring(end + 1) : "");
			if (name != null) {
				// A later value must not replace one that cannot be decoded.
				values.putIfAbsent(name, (value != null) ? value : "");
			}
		}
		values.values().removeIf(String::isEmpty);
		return values;
	}

	private static @Nullable String decode(String text) {
		try {
			String decoded = StringUtils.uriDecode(text.replace('+', ' '), StandardCharsets.UTF_8);
			// Bytes that are no UTF-8 would make different values the same.
			return (decoded.indexOf(REPLACEMENT) < 0) ? decoded : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

}
