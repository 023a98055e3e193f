package io.github.ratelimit.spring.web.answer;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.github.ratelimit.spring.LimitHeaders;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;

import org.springframework.http.HttpHeaders;
import org.springframework.util.StringUtils;
import org.springframework.web.cors.CorsUtils;

/**
 * Exposes the headers of the limiter to pages of other origins that may read the
 * response, whenever the application says so.
 */
public final class ExposedHeaders extends HttpServletResponseWrapper {

	private static final List<String> CORS = List.of(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN,
			HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS);

	private final LimitHeaders headers;

	public ExposedHeaders(LimitHeaders headers, HttpServletResponse response) {
		super(response);
		this.headers = headers;
		expose(headers, response);
	}

	/** Returns whether a request comes from a page of another origin. */
	public static boolean concern(HttpServletRequest request) {
		try {
			return CorsUtils.isCorsRequest(request);
		}
		catch (IllegalArgumentException ex) {
			// No browser sends a malformed origin.
			return false;
		}
	}

	/** Exposes the headers in addition to those of the application. */
	public static void expose(LimitHeaders headers, HttpServletResponse response) {
		if (response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN)) {
			Set<String> exposed = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
			response.getHeaders(HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS)
				.forEach((value) -> exposed.addAll(List.of(StringUtils.tokenizeToStringArray(value, ","))));
			exposed.addAll(headers.names());
			exposed.add(HttpHeaders.RETRY_AFTER);
			response.setHeader(HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS, String.join(", ", exposed));
		}
	}

	@Override
	public void setHeader(String name, String value) {
		super.setHeader(name, value);
		exposeAfter(name);
	}

	@Override
	public void addHeader(String name, String value) {
		super.addHeader(name, value);
		exposeAfter(name);
	}

	private void exposeAfter(String name) {
		if (CORS.stream().anyMatch(name::equalsIgnoreCase)) {
			expose(this.headers, (HttpServletResponse) getResponse());
		}
	}

}
