package io.github.ratelimit.spring.web;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;

import org.springframework.http.HttpHeaders;

/**
 * Exposes the headers of the limiter to browsers on other origins, if the application
 * allows them to read the response.
 */
final class ExposedHeaders {

	private final Collection<String> names;

	ExposedHeaders(Collection<String> names) {
		Map<String, String> all = new TreeMap<>();
		names.forEach((name) -> all.put(name, name));
		all.put(HttpHeaders.RETRY_AFTER, HttpHeaders.RETRY_AFTER);
		this.names = all.values();
	}

	/**
	 * Exposes the headers in addition to those of the application, if other origins may
	 * read the response.
	 */
	void expose(HttpServletResponse response) {
		if (!response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN)) {
			return;
		}
		Map<String, String> exposed = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		response.getHeaders(HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS)
			.stream()
			.flatMap((value) -> Arrays.stream(value.split(",")))
			.map(String::strip)
			.filter((name) -> !name.isEmpty())
			.forEach((name) -> exposed.put(name, name));
		this.names.forEach((name) -> exposed.putIfAbsent(name, name));
		response.setHeader(HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS, String.join(", ", exposed.values()));
	}

	/** Exposes the headers when the application allows other origins to read them. */
	HttpServletResponse watch(HttpServletResponse response) {
		expose(response);
		return new WatchedResponse(response);
	}

	/**
	 * Replaces headers of the limiter that the application adds: Spring MVC adds the
	 * headers of a {@code ResponseEntity}.
	 */
	HttpServletResponse replaceable(HttpServletResponse response) {
		return new ReplaceableResponse(response);
	}

	private final class ReplaceableResponse extends HttpServletResponseWrapper {

		private final Set<String> replaced = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

		ReplaceableResponse(HttpServletResponse response) {
			super(response);
		}

		@Override
		public void addHeader(String name, String value) {
			if (ExposedHeaders.this.names.stream().anyMatch(name::equalsIgnoreCase) && this.replaced.add(name)) {
				super.setHeader(name, value);
			}
			else {
				super.addHeader(name, value);
			}
		}

	}

	private final class WatchedResponse extends HttpServletResponseWrapper {

		private final HttpServletResponse response;

		WatchedResponse(HttpServletResponse response) {
			super(response);
			this.response = response;
		}

		@Override
		public void setHeader(String name, String value) {
			super.setHeader(name, value);
			headerHasChanged(name);
		}

		@Override
		public void addHeader(String name, String value) {
			super.addHeader(name, value);
			headerHasChanged(name);
		}

		private void headerHasChanged(String name) {
			if (HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN.equalsIgnoreCase(name)
					|| HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS.equalsIgnoreCase(name)) {
				expose(this.response);
			}
		}

	}

}
