package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.ratelimit.Decision;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/**
 * Answers a denied request: status 429 (RFC 6585), {@code Retry-After}, and a problem
 * body (RFC 9457) of the type {@code quota-exceeded}, or {@code abnormal-usage-detected}
 * for a block, that draft-ietf-httpapi-ratelimit-headers defines.
 */
final class Rejection implements RejectionHandler {

	private final JsonMapper jsonMapper;

	Rejection(JsonMapper jsonMapper) {
		this.jsonMapper = jsonMapper;
	}

	@Override
	public void reject(Decision decision, HttpServletRequest request, HttpServletResponse response) throws IOException {
		// Whole seconds, rounded up and at least 1 (RFC 9110, section 10.2.3): clients
		// that read 0 come back at once. Nothing at all if waiting does not help.
		decision.retryAfter()
			.map((time) -> Math.max(1, StatusHeaders.seconds(time)))
			.ifPresent((seconds) -> response.setHeader(HttpHeaders.RETRY_AFTER, Long.toString(seconds)));
		ProblemBody.write(HttpStatus.TOO_MANY_REQUESTS, this.jsonMapper.writeValueAsBytes(problem(decision)), response);
	}

	private static Map<String, Object> problem(Decision decision) {
		Map<String, Object> problem = new LinkedHashMap<>();
		boolean blocked = decision.blockedFor() != null;
		problem.put("type", ProblemBody.TYPES + (blocked ? "abnormal-usage-detected" : "quota-exceeded"));
		problem.put("title", blocked ? "Request not satisfied due to detection of abnormal request pattern"
				: "Request cannot be satisfied as assigned quota has been exceeded");
		problem.put("status", HttpStatus.TOO_MANY_REQUESTS.value());
		problem.put("violated-policies", decision.violated().stream().map(RequestStatuses::name).distinct().toList());
		return problem;
	}

}
