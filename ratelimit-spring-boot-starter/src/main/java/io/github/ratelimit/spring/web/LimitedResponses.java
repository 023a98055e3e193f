package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.Decision;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

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

	private final LimitHeaders headers;

	private final RejectionHandler rejection;

	private final ApplicationCors cors;

	private final ExposedHeaders exposed;

	/**
	 * Creates responses.
	 * @param headers writes the headers
	 * @param rejection answers requests that may not go on
	 * @param cors what the application has configured for requests of other origins
	 */
	public LimitedResponses(LimitHeaders headers, RejectionHandler rejection, ApplicationCors cors) {
		this.headers = headers;
		this.rejection = rejection;
		this.cors = cors;
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
		return (RequestStatuses.exist(request) && ApplicationCors.concerns(request)) ? this.exposed.watch(response)
				: response;
	}

	/** Answers a request that was denied. */
	void reject(Decision decision, HttpServletRequest request, HttpServletResponse response) throws IOException {
		this.exposed.expose(response);
		this.rejection.reject(decision, request, response);
	}

	/** Answers a request that is denied because the store failed. */
	void rejectWithoutDecision(HttpServletRequest request, HttpServletResponse response) throws IOException {
		this.exposed.expose(response);
		this.rejection.rejectWithoutDecision(request, response);
	}

	/** Answers a request whose caller is denied. */
	void forbid(HttpServletRequest request, HttpServletResponse response) throws IOException {
		this.rejection.forbid(request, response);
	}

	/**
	 * Prepares the answer to a request that does not come to the handlers of the
	 * application.
	 * @return whether the request is still to be answered; if not, the application
	 * refuses requests of its origin, and has answered so
	 */
	boolean isToAnswer(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
		return !ApplicationCors.concerns(request) || this.cors.apply(request, response);
	}

}
