package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;

/**
 * Writes the limits into responses, and answers rejected requests. Browsers on other
 * origins can read both if they can read the responses of the application.
 * <p>
 * Safe for use by several threads.
 */
final class LimitedResponses {

	private static final List<String> CONTENT_HEADERS = List.of(HttpHeaders.CONTENT_DISPOSITION,
			HttpHeaders.CONTENT_ENCODING, HttpHeaders.CONTENT_LANGUAGE, HttpHeaders.CONTENT_RANGE, HttpHeaders.ETAG,
			HttpHeaders.LAST_MODIFIED, HttpHeaders.LOCATION);

	private final LimitHeaders headers;

	private final Rejections rejections;

	private final ApplicationCors cors;

	private final SecurityFilters security;

	private final ExposedHeaders exposed;

	/**
	 * Creates responses.
	 * @param headers writes the headers
	 * @param rejections answers rejected requests
	 * @param cors the CORS configuration of the application
	 * @param security writes the security headers of the application
	 */
	LimitedResponses(LimitHeaders headers, Rejections rejections, ApplicationCors cors, SecurityFilters security) {
		this.headers = headers;
		this.rejections = rejections;
		this.cors = cors;
		this.security = security;
		this.exposed = new ExposedHeaders(headers.names());
	}

	/** Writes the limits that were checked so far. */
	void writeHeaders(RequestStatuses statuses, HttpServletResponse response) {
		if (statuses.write(this.headers, response)
				&& response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN)) {
			this.exposed.expose(response);
		}
	}

	/** Writes the limits after some of them were removed. */
	void writeHeadersAgain(RequestStatuses statuses, HttpServletResponse response) {
		this.headers.names().forEach((name) -> response.setHeader(name, null));
		writeHeaders(statuses, response);
	}

	/**
	 * Returns the response for the rest of the filter chain, which may allow browsers on
	 * other origins to read it.
	 */
	HttpServletResponse forChain(HttpServletRequest request, HttpServletResponse response) {
		if (request.getHeader(HttpHeaders.ORIGIN) == null || !ApplicationCors.concerns(request)) {
			return response;
		}
		RequestState state = RequestState.find(request);
		return (state != null && !state.statuses().isEmpty()) ? this.exposed.watch(response) : response;
	}

	/**
	 * Answers a rejected request that has not reached the handlers of the application.
	 */
	void answer(Answer answer, HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		this.security.writeHeaders(request, response);
		if (!ApplicationCors.concerns(request) || this.cors.apply(request, response)) {
			reject(answer, request, response);
		}
	}

	/** Answers a rejected request. */
	void reject(Answer answer, HttpServletRequest request, HttpServletResponse response) throws IOException {
		removeContentHeaders(response);
		this.exposed.expose(response);
		this.rejections.write(answer.reason(), answer.decision(), request, response);
	}

	/**
	 * Returns the response for exception handlers of the application. It has
	 * {@code Retry-After} and the headers of the limits, which they may replace.
	 */
	HttpServletResponse forExceptionHandlers(Answer answer, HttpServletResponse response) {
		removeContentHeaders(response);
		Rejections.setRetryAfter(answer.decision(), answer.reason(), response);
		this.exposed.expose(response);
		return this.exposed.replaceable(response);
	}

	/** Removes headers of content that is not sent. */
	private static void removeContentHeaders(HttpServletResponse response) {
		for (String name : CONTENT_HEADERS) {
			if (response.containsHeader(name)) {
				response.setHeader(name, null);
			}
		}
	}

}
