package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.ratelimit.Decision;
import jakarta.servlet.http.HttpServletResponse;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/**
 * Answers a denied request: status 429 (RFC 6585), {@code Retry-After}, and a problem
 * body (RFC 9457) of the type {@code quota-exceeded}, or {@code abnormal-usage-detected}
 * for a block, that draft-ietf-httpapi-ratelimit-headers defines.
 */
final class Rejection {

	private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

	private final JsonMapper jsonMapper;

	Rejection(JsonMapper jsonMapper) {
		this.jsonMapper = jsonMapper;
	}

	void write(Decision decision, HttpServletResponse response) throws IOException {
		response.setStatus(HttpStatus.TOO_MANY_REQUESTS.value());
		// Whole seconds, rounded up and at least 1 (RFC 9110, section 10.2.3): clients
		// that read 0 come back at once. Nothing at all if waiting does not help.
		decision.retryAfter()
			.map((time) -> Math.max(1, StatusHeaders.seconds(time)))
			.ifPresent((seconds) -> response.setHeader(HttpHeaders.RETRY_AFTER, Long.toString(seconds)));
		response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
		byte[] body = this.jsonMapper.writeValueAsBytes(problem(decision));
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		write(body, response);
	}

	/**
	 * Answers a request that is denied because of who makes it: status 403, and nothing
	 * about waiting, which does not help.
	 */
	void forbid(HttpServletResponse response) throws IOException {
		response.setStatus(HttpStatus.FORBIDDEN.value());
		response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
		Map<String, Object> problem = new LinkedHashMap<>();
		problem.put("type", "about:blank");
		problem.put("title", HttpStatus.FORBIDDEN.getReasonPhrase());
		problem.put("status", HttpStatus.FORBIDDEN.value());
		byte[] body = this.jsonMapper.writeValueAsBytes(problem);
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		write(body, response);
	}

	/** Writes the body instead of what a handler may have begun to write. */
	private static void write(byte[] body, HttpServletResponse response) throws IOException {
		response.resetBuffer();
		try {
			response.getOutputStream().write(body);
		}
		catch (IllegalStateException ex) {
			// The handler has asked for the writer, and one excludes the other.
			response.getWriter().write(new String(body, StandardCharsets.UTF_8));
		}
	}

	private static Map<String, Object> problem(Decision decision) {
		Map<String, Object> problem = new LinkedHashMap<>();
		boolean blocked = decision.blockedFor() != null;
		problem.put("type", TYPES + (blocked ? "abnormal-usage-detected" : "quota-exceeded"));
		problem.put("title", blocked ? "Request not satisfied due to detection of abnormal request pattern"
				: "Request cannot be satisfied as assigned quota has been exceeded");
		problem.put("status", HttpStatus.TOO_MANY_REQUESTS.value());
		problem.put("violated-policies", decision.violated().stream().map(RequestStatuses::name).distinct().toList());
		return problem;
	}

}
