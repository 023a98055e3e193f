package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;

import io.github.ratelimit.Decision;
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

	private final RejectionHandler rejection;

	private final ApplicationCors cors;

	private final SecurityHeaders security;

	private final ExposedHeaders exposed;

	/**
	 * Creates responses.
	 * @param headers writes the headers
	 * @param rejection answers requests that may not go on
	 * @param cors what the application has configured for requests of other origins
	 * @param security what the application writes into every response for security
	 */
	public LimitedResponses(LimitHeaders headers, RejectionHandler rejection, ApplicationCors cors,
			SecurityHeaders security) {
		this.headers = headers;
		this.rejection = rejection;
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

	/**
	 * Returns the response for the filters and the handler that come next, one of which
	 * may let browsers on other origins read it.
	 */
	HttpServletResponse forChain(HttpServletRequest request, HttpServletResponse response) {
		return (RequestStatuses.exist(request) && ApplicationCors.concerns(request)) ? this.exposed.watch(response)
				: response;
	}

	/** Answers a request that was denied. */
	void reject(Decision decision, HttpServletRequest request, HttpServletResponse response) throws IOException {
		forgetContent(response);
		this.exposed.expose(response);
		this.rejection.reject(decision, request, response);
	}

	/** Answers a request that is denied because the store failed. */
	void rejectWithoutDecision(HttpServletRequest request, HttpServletResponse response) throws IOException {
		forgetContent(response);
		this.exposed.expose(response);
		this.rejection.rejectWithoutDecision(request, response);
	}

	/** Answers a request whose caller is denied. */
	void forbid(HttpServletRequest request, HttpServletResponse response) throws IOException {
		forgetContent(response);
		this.rejection.forbid(request, response);
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
