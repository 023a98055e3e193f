package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;

/**
 * What the client of a limited request is told: by headers on every response, and by the
 * whole response if the request may not go on. Browsers on other origins can read it as
 * far as the application lets them read its own responses.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class LimitedResponses {

	private static final List<String> OF_CONTENT = List.of(HttpHeaders.CONTENT_DISPOSITION,
			HttpHeaders.CONTENT_ENCODING, HttpHeaders.CONTENT_LANGUAGE, HttpHeaders.CONTENT_RANGE, HttpHeaders.ETAG,
			HttpHeaders.LAST_MODIFIED, HttpHeaders.LOCATION);

	private final LimitHeaders headers;

	private final Rejections rejections;

	private final ApplicationCors cors;

	private final SecurityHeaders security;

	private final ExposedHeaders exposed;

	/**
	 * Creates responses.
	 * @param headers writes the headers
	 * @param rejections answers requests that may not go on
	 * @param cors what the application has configured for requests of other origins
	 * @param security what the application writes into every response for security
	 */
	LimitedResponses(LimitHeaders headers, Rejections rejections, ApplicationCors cors, SecurityHeaders security) {
		this.headers = headers;
		this.rejections = rejections;
		this.cors = cors;
		this.security = security;
		this.exposed = new ExposedHeaders(headers.names());
	}

	/** Writes how the limits stand, as far as that is known. */
	void writeHeaders(RequestStatuses statuses, HttpServletResponse response) {
		if (statuses.write(this.headers, response)) {
			this.exposed.expose(response);
		}
	}

	/** Writes how the limits stand without what was written before, and has changed. */
	void writeHeadersAgain(RequestStatuses statuses, HttpServletResponse response) {
		this.headers.names().forEach((name) -> response.setHeader(name, null));
		writeHeaders(statuses, response);
	}

	/**
	 * Returns the response for the filters and the handler that come next, one of which
	 * may let browsers on other origins read it.
	 */
	HttpServletResponse forChain(HttpServletRequest request, HttpServletResponse response) {
		if (!ApplicationCors.concerns(request)) {
			return response;
		}
		RequestState state = RequestState.find(request);
		return (state != null && !state.statuses().isEmpty()) ? this.exposed.watch(response) : response;
	}

	/** Answers a request that may not go on. */
	void reject(Answer answer, HttpServletRequest request, HttpServletResponse response) throws IOException {
		forgetContent(response);
		this.exposed.expose(response);
		this.rejections.write(answer.reason(), answer.decision(), request, response);
	}

	/**
	 * Returns the response for exception handlers of the application, which may answer
	 * instead. It says how long to wait, and how the limits stand, unless they say
	 * otherwise.
	 */
	HttpServletResponse forExceptionHandlers(Answer answer, HttpServletResponse response) {
		forgetContent(response);
		Rejections.setRetryAfter(answer.decision(), answer.reason(), response);
		this.exposed.expose(response);
		return this.exposed.replaceable(response);
	}

	/** Takes away what somebody has told of content that is not sent. */
	private static void forgetContent(HttpServletResponse response) {
		for (String name : OF_CONTENT) {
			if (response.containsHeader(name)) {
				response.setHeader(name, null);
			}
		}
	}

	/**
	 * Prepares the answer to a request that does not come to the handlers of the
	 * application.
	 * @return whether the request is still to be answered; if not, the application
	 * refuses requests of its origin, and has answered so
	 */
	boolean isToAnswer(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
		this.security.write(request, response);
		return !ApplicationCors.concerns(request) || this.cors.apply(request, response);
	}

}
