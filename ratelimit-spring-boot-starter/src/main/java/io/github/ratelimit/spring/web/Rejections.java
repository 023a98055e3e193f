package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.Decision;
import io.github.ratelimit.spring.Rejection;
import io.github.ratelimit.spring.Rejection.Reason;
import io.github.ratelimit.spring.RejectionHandler;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;

/**
 * Answers requests that may not go on: status, {@code Retry-After}, and a problem body
 * (RFC 9457), of the types that draft-ietf-httpapi-ratelimit-headers defines. A handler
 * of the application may change each of them.
 */
final class Rejections {

	private static final Logger logger = LoggerFactory.getLogger(Rejections.class);

	private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

	private static final URI QUOTA_EXCEEDED = URI.create(TYPES + "quota-exceeded");

	private static final URI ABNORMAL_USAGE = URI.create(TYPES + "abnormal-usage-detected");

	private static final URI REDUCED_CAPACITY = URI.create(TYPES + "temporary-reduced-capacity");

	private static final URI BLANK = URI.create("about:blank");

	private final int status;

	private final URI type;

	private final JsonMapper jsonMapper;

	private final @Nullable RejectionHandler handler;

	private final AtomicBoolean failed = new AtomicBoolean();

	/**
	 * Creates answers.
	 * @param status the status of denied requests
	 * @param type the type of their problems; {@code null} for {@code quota-exceeded}
	 * @param jsonMapper writes bodies
	 * @param handler changes answers; {@code null} for none
	 */
	Rejections(int status, @Nullable URI type, JsonMapper jsonMapper, @Nullable RejectionHandler handler) {
		this.status = status;
		this.type = (type != null) ? type : QUOTA_EXCEEDED;
		this.jsonMapper = jsonMapper;
		this.handler = handler;
	}

	/** Sets how long to wait, as far as that is known and helps. */
	static void setRetryAfter(@Nullable Decision decision, Reason reason, HttpServletResponse response) {
		if (decision != null) {
			// Whole seconds, rounded up and at least 1 (RFC 9110, section 10.2.3):
			// clients
			// that read 0 come back at once.
			decision.retryAfter()
				.map((time) -> Math.max(1, StatusHeaders.seconds(time)))
				.ifPresent((seconds) -> response.setHeader(HttpHeaders.RETRY_AFTER, Long.toString(seconds)));
		}
		else if (reason == Reason.STORE_FAILED) {
			// As soon as the store answers, requests are decided again.
			response.setHeader(HttpHeaders.RETRY_AFTER, "1");
		}
	}

	/** Answers a request, instead of what a handler may have begun to write. */
	void write(Reason reason, @Nullable Decision decision, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		ProblemDetail problem = problem(reason, decision);
		int status = problem.getStatus();
		response.resetBuffer();
		response.setStatus(status);
		response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
		forgetContentType(response);
		setRetryAfter(decision, reason, response);
		if (this.handler != null
				&& isAnswered(this.handler, new Rejection(reason, decision, problem), request, response)) {
			return;
		}
		if (problem.getStatus() == status) {
			problem.setStatus(response.getStatus());
		}
		response.setStatus(problem.getStatus());
		writeBody(problem, response);
	}

	/**
	 * If the handler fails, the request gets the standard answer, whatever it changed.
	 */
	private boolean isAnswered(RejectionHandler handler, Rejection rejection, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		BodyWatch watch = new BodyWatch(response);
		try {
			handler.handle(rejection, request, watch);
		}
		catch (UncheckedIOException ex) {
			throw ex.getCause();
		}
		catch (RuntimeException ex) {
			if (this.failed.compareAndSet(false, true)) {
				logger.warn("{} fails, and its requests are answered without it. This is said once only",
						handler.getClass().getName(), ex);
			}
			if (!response.isCommitted()) {
				ProblemDetail standard = problem(rejection.reason(), rejection.decision());
				response.resetBuffer();
				response.setStatus(standard.getStatus());
				writeBody(standard, response);
			}
			return true;
		}
		return watch.isAnswered();
	}

	private ProblemDetail problem(Reason reason, @Nullable Decision decision) {
		return switch (reason) {
			case DENIED -> {
				boolean blocked = decision != null && decision.blockedFor() != null;
				ProblemDetail problem = problem(this.status, blocked ? ABNORMAL_USAGE : this.type,
						blocked ? "Request not satisfied due to detection of abnormal request pattern"
								: "Request cannot be satisfied as assigned quota has been exceeded");
				if (decision != null) {
					problem.setProperty("violated-policies",
							decision.violated().stream().map(RequestStatuses::name).distinct().toList());
				}
				yield problem;
			}
			case STORE_FAILED -> problem(HttpStatus.SERVICE_UNAVAILABLE.value(), REDUCED_CAPACITY,
					"Request cannot be satisfied due to temporary server capacity constraints");
			case CALLER_DENIED -> problem(HttpStatus.FORBIDDEN.value(), BLANK, "Forbidden");
		};
	}

	private static ProblemDetail problem(int status, URI type, String title) {
		ProblemDetail problem = ProblemDetail.forStatus(status);
		problem.setType(type);
		problem.setTitle(title);
		return problem;
	}

	private void writeBody(ProblemDetail problem, HttpServletResponse response) throws IOException {
		byte[] body = this.jsonMapper.writeValueAsBytes(members(problem));
		response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
		response.setContentLength(body.length);
		try {
			response.getOutputStream().write(body);
		}
		catch (IllegalStateException ex) {
			// The handler has asked for the writer, and one excludes the other.
			response.getWriter().write(new String(body, StandardCharsets.UTF_8));
		}
	}

	private static void forgetContentType(HttpServletResponse response) {
		try {
			response.setContentType(null);
		}
		catch (IllegalStateException ex) {
			// The handler has asked for the writer. Jetty lets the type only be replaced.
		}
	}

	/** A map needs no knowledge of the class in a native image. */
	private static Map<String, Object> members(ProblemDetail problem) {
		Map<String, Object> members = new LinkedHashMap<>();
		members.put("type", (problem.getType() != null) ? problem.getType().toString() : BLANK.toString());
		if (problem.getTitle() != null) {
			members.put("title", problem.getTitle());
		}
		members.put("status", problem.getStatus());
		if (problem.getDetail() != null) {
			members.put("detail", problem.getDetail());
		}
		if (problem.getInstance() != null) {
			members.put("instance", problem.getInstance().toString());
		}
		if (problem.getProperties() != null) {
			members.putAll(problem.getProperties());
		}
		return members;
	}

}
