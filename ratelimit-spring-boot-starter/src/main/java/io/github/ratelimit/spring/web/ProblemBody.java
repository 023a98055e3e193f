package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/**
 * A problem (RFC 9457) as the body of a response.
 */
final class ProblemBody {

	/** Types of problems that draft-ietf-httpapi-ratelimit-headers defines. */
	static final String TYPES = "https://iana.org/assignments/http-problem-types#";

	private static final byte[] REDUCED_CAPACITY = """
			{"type":"%stemporary-reduced-capacity",\
			"title":"Request cannot be satisfied due to temporary server capacity constraints",\
			"status":503}""".formatted(TYPES).getBytes(StandardCharsets.UTF_8);

	private static final byte[] FORBIDDEN = """
			{"type":"about:blank","title":"Forbidden","status":403}""".getBytes(StandardCharsets.UTF_8);

	private ProblemBody() {
	}

	/**
	 * Asks the client to come back in a second: as soon as the store answers, requests
	 * are decided again.
	 */
	static void writeReducedCapacity(HttpServletResponse response) throws IOException {
		response.setHeader(HttpHeaders.RETRY_AFTER, "1");
		write(HttpStatus.SERVICE_UNAVAILABLE, REDUCED_CAPACITY, response);
	}

	static void writeForbidden(HttpServletResponse response) throws IOException {
		write(HttpStatus.FORBIDDEN, FORBIDDEN, response);
	}

	/** Writes the body instead of what a handler may have begun to write. */
	static void write(HttpStatus status, byte[] body, HttpServletResponse response) throws IOException {
		response.setStatus(status.value());
		response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		response.resetBuffer();
		try {
			response.getOutputStream().write(body);
		}
		catch (IllegalStateException ex) {
			// The handler has asked for the writer, and one excludes the other.
			response.getWriter().write(new String(body, StandardCharsets.UTF_8));
		}
	}

}
