package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import io.github.ratelimit.Decision;
import io.github.ratelimit.spring.Rejection;
import io.github.ratelimit.spring.Rejection.Reason;
import io.github.ratelimit.spring.RejectionHandler;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;

/**
 * Answers rejected requests with a status, {@code Retry-After}, and a problem body (RFC
 * 9457) of a type that draft-ietf-httpapi-ratelimit-headers defines. A handler of the
 * application may change all of them.
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

	/** With what the handler has failed. */
	private final Set<Class<?>> failed = ConcurrentHashMap.newKeySet();

	/**
	 * Creates an instance.
	 * @param status the status of denied requests
	 * @param type the type of their problems; {@code null} for {@code quota-exceeded}
	 * @param jsonMapper writes bodies
	 * @param handler may change answers; {@code null} for none
	 */
	Rejections(int status, @Nullable URI type, JsonMapper jsonMapper, @Nullable RejectionHandler handler) {
		this.status = status;
		this.type = (type != null) ? type : QUOTA_EXCEEDED;
		this.jsonMapper = jsonMapper;
		this.handler = handler;
	}

	/** Sets {@code Retry-After}, if the time is known. */
	static void setRetryAfter(@Nullable Decision decision, Reason reason, HttpServletResponse response) {
		if (decision != null) {
			// Whole seconds (RFC 9110, section 10.2.3), at least 1: with 0, clients
			// would retry at once.
			decision.retryAfter()
				.map((time) -> Math.max(1, StatusHeaders.seconds(time)))
				.ifPresent((seconds) -> response.setHeader(HttpHeaders.RETRY_AFTER, Long.toString(seconds)));
		}
		else if (reason == Reason.STORE_FAILED) {
			// The store may answer again at any time.
			response.setHeader(HttpHeaders.RETRY_AFTER, "1");
		}
	}

	/** Answers a request, and discards what a handler has written so far. */
	void write(Reason reason, @Nullable Decision decision, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		ProblemDetail problem = problem(reason, decision);
		int status = problem.getStatus();
		response.resetBuffer();
		response.setStatus(status);
		response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
		removeContentType(response);
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
	 * Calls the handler. If it fails, the request gets the standard answer, with the
	 * headers as they were, unless the connection has broken while it wrote.
	 */
	private boolean isAnswered(RejectionHandler handler, Rejection rejection, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		BodyWatch watch = new BodyWatch(response);
		Map<String, List<String>> headers = headers(response);
		try {
			handler.handle(rejection, request, watch);
		}
		catch (IOException | RuntimeException ex) {
			if (response.isCommitted() && ex instanceof UncheckedIOException unchecked) {
				throw unchecked.getCause();
			}
			if (response.isCommitted() && ex instanceof IOException broken) {
				throw broken;
			}
			if (this.failed.add(ex.getClass())) {
				logger.warn("{} failed, so that the standard answer was sent. This is logged once for {}",
						handler.getClass().getName(), ex.getClass().getName(), ex);
			}
			if (!response.isCommitted()) {
				ProblemDetail standard = problem(rejection.reason(), rejection.decision());
				response.resetBuffer();
				restoreHeaders(headers, response);
				removeContentType(response);
				response.setStatus(standard.getStatus());
				writeBody(standard, response);
			}
			return true;
		}
		return watch.isAnswered();
	}

	private static Map<String, List<String>> headers(HttpServletResponse response) {
		Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		response.getHeaderNames().forEach((name) -> headers.put(name, List.copyOf(response.getHeaders(name))));
		return headers;
	}

	private static void restoreHeaders(Map<String, List<String>> headers, HttpServletResponse response) {
		headers.forEach((name, values) -> {
			response.setHeader(name, values.get(0));
			values.stream().skip(1).forEach((value) -> response.addHeader(name, value));
		});
		headers(response).keySet()
			.stream()
			.filter((name) -> !headers.containsKey(name))
			.forEach((name) -> response.setHeader(name, null));
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
			// The handler has called getWriter, which excludes the output stream.
			response.getWriter().write(new String(body, StandardCharsets.UTF_8));
		}
	}

	private static void removeContentType(HttpServletResponse response) {
		try {
			response.setContentType(null);
		}
		catch (IllegalStateException ex) {
			// The handler has called getWriter. Jetty only allows to replace the type.
		}
	}

	/** Unlike the class, a map needs no hints in a native image. */
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

	/**
	 * A response that remembers whether the handler has begun to answer.
	 */
	private static final class BodyWatch extends HttpServletResponseWrapper {

		private boolean answered;

		BodyWatch(HttpServletResponse response) {
			super(response);
		}

		boolean isAnswered() {
			return this.answered || isCommitted();
		}

		@Override
		public ServletOutputStream getOutputStream() throws IOException {
			this.answered = true;
			return super.getOutputStream();
		}

		@Override
		public PrintWriter getWriter() throws IOException {
			this.answered = true;
			return super.getWriter();
		}

		@Override
		public void sendError(int status) throws IOException {
			this.answered = true;
			super.sendError(status);
		}

		@Override
		public void sendError(int status, String message) throws IOException {
			this.answered = true;
			super.sendError(status, message);
		}

	}

}
