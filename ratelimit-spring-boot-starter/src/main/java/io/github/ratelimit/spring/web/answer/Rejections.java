package io.github.ratelimit.spring.web.answer;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.github.ratelimit.spring.Rejection.Reason;
import io.github.ratelimit.spring.Rejection;
import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.config.RateLimitProperties.RejectionProperties;
import io.github.ratelimit.spring.decide.LoggedOnce;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;

/**
 * Answers rejected requests with a status and a problem body (RFC 9457) of a type that
 * draft-ietf-httpapi-ratelimit-headers defines. A handler of the application may change
 * all of them.
 */
public final class Rejections {

	private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

	private static final URI BLANK = URI.create("about:blank");

	private final int status;

	private final URI type;

	private final JsonMapper jsonMapper;

	private final @Nullable RejectionHandler handler;

	private final UncaughtDenials denials;

	private final LoggedOnce warnings = new LoggedOnce(Rejections.class);

	public Rejections(RejectionProperties properties, JsonMapper jsonMapper, @Nullable RejectionHandler handler,
			UncaughtDenials denials) {
		this.status = properties.status();
		if (this.status < 400 || this.status > 599) {
			throw new InvalidConfigurationPropertyValueException("ratelimit.rejection.status", this.status,
					"Must be from 400 to 599: clients take others for success.");
		}
		this.type = type(properties.type());
		this.jsonMapper = jsonMapper;
		this.handler = handler;
		this.denials = denials;
	}

	private static URI type(@Nullable String type) {
		try {
			if (type == null || !type.isBlank()) {
				return new URI((type != null) ? type : TYPES + "quota-exceeded");
			}
		}
		catch (URISyntaxException ex) {
			// Rejected as a blank one.
		}
		throw new InvalidConfigurationPropertyValueException("ratelimit.rejection.type", type,
				"Invalid type (%s): must be a URI, such as https://example.com/problems/quota.".formatted(type));
	}

	/**
	 * Answers a request, and discards what a handler has written so far. Does nothing if
	 * an answer is on its way.
	 */
	public void write(Answer answer, HttpServletRequest request, HttpServletResponse response) throws IOException {
		if (response.isCommitted()) {
			return;
		}
		if (answer.reason() == null) {
			response.sendError(HttpServletResponse.SC_BAD_REQUEST);
			return;
		}
		this.denials.warn(answer);
		Rejection rejection = new Rejection(answer.reason(), answer.decision(), problem(answer, answer.reason()));
		ProblemDetail problem = rejection.problem();
		int status = problem.getStatus();
		response.resetBuffer();
		response.setStatus(status);
		response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
		removeContentType(response);
		if (this.handler != null && isAnswered(this.handler, rejection, request, response)) {
			return;
		}
		if (problem.getStatus() == status) {
			problem.setStatus(response.getStatus());
		}
		writeBody(problem, response);
	}

	/**
	 * Calls the handler. If it fails, the request gets the standard answer, with the
	 * headers as they were, unless the connection has broken while it wrote.
	 */
	private boolean isAnswered(RejectionHandler handler, Rejection rejection, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		BodyWatch watch = new BodyWatch(response);
		Map<String, List<String>> headers = new TreeMap<>();
		response.getHeaderNames().forEach((name) -> headers.put(name, List.copyOf(response.getHeaders(name))));
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
			this.warnings.warn(ex.getClass(),
					"{} failed, so that the standard answer was sent. This is logged once for {}",
					handler.getClass().getName(), ex.getClass().getName(), ex);
			if (!response.isCommitted()) {
				response.reset();
				headers.forEach((name, values) -> {
					response.setHeader(name, values.get(0));
					values.stream().skip(1).forEach((value) -> response.addHeader(name, value));
				});
				writeBody(problem(new Answer(rejection.reason(), rejection.decision()), rejection.reason()), response);
			}
			return true;
		}
		return watch.answered || response.isCommitted();
	}

	private ProblemDetail problem(Answer answer, Reason reason) {
		return switch (reason) {
			case DENIED -> {
				boolean blocked = answer.decision() != null && answer.decision().blockedFor() != null;
				ProblemDetail problem = problem(this.status,
						blocked ? URI.create(TYPES + "abnormal-usage-detected") : this.type,
						blocked ? "Request not satisfied due to detection of abnormal request pattern"
								: "Request cannot be satisfied as assigned quota has been exceeded");
				problem.setProperty("violated-policies", answer.violated());
				yield problem;
			}
			case STORE_FAILED, OUTGOING_DENIED ->
				problem(HttpServletResponse.SC_SERVICE_UNAVAILABLE, URI.create(TYPES + "temporary-reduced-capacity"),
						"Request cannot be satisfied due to temporary server capacity constraints");
			case CALLER_DENIED -> problem(HttpServletResponse.SC_FORBIDDEN, BLANK, "Forbidden");
		};
	}

	private static ProblemDetail problem(int status, URI type, String title) {
		ProblemDetail problem = ProblemDetail.forStatus(status);
		problem.setType(type);
		problem.setTitle(title);
		return problem;
	}

	private void writeBody(ProblemDetail problem, HttpServletResponse response) throws IOException {
		response.setStatus(problem.getStatus());
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
	private static Map<String, @Nullable Object> members(ProblemDetail problem) {
		Map<String, @Nullable Object> members = new LinkedHashMap<>();
		members.put("type", Objects.requireNonNullElse(problem.getType(), BLANK));
		members.put("title", problem.getTitle());
		members.put("status", problem.getStatus());
		members.put("detail", problem.getDetail());
		members.put("instance", problem.getInstance());
		members.values().removeIf(Objects::isNull);
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
