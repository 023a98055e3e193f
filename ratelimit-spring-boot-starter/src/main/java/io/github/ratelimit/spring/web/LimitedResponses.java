package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;

import io.github.ratelimit.spring.LimitHeaders;
import io.github.ratelimit.spring.SecurityFilters;
import io.github.ratelimit.spring.web.answer.Answer;
import io.github.ratelimit.spring.web.answer.ExposedHeaders;
import io.github.ratelimit.spring.web.answer.Rejections;
import io.github.ratelimit.spring.web.cors.ApplicationCors;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;

/**
 * Answers rejected requests. Browsers on other origins can read the answer if they can
 * read the responses of the application.
 */
record LimitedResponses(LimitHeaders headers, Rejections rejections, ApplicationCors cors, SecurityFilters security) {

	/** Headers of content that is not sent. */
	private static final List<String> CONTENT_HEADERS = List.of(HttpHeaders.CONTENT_DISPOSITION,
			HttpHeaders.CONTENT_ENCODING, HttpHeaders.CONTENT_LANGUAGE, HttpHeaders.CONTENT_RANGE, HttpHeaders.ETAG,
			HttpHeaders.LAST_MODIFIED, HttpHeaders.LOCATION);

	/**
	 * Returns whether the client gets an error in any case. Tomcat answers with 400 as
	 * soon as somebody asks for a parameter, and the body that may hold it is broken.
	 */
	static boolean isError(HttpServletResponse response) {
		return response.isCommitted() && response.getStatus() >= HttpServletResponse.SC_BAD_REQUEST;
	}

	/**
	 * Answers a rejected request that has not reached the handlers of the application.
	 */
	void answer(Answer answer, HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		this.security.writeHeaders(request, response);
		if (!ExposedHeaders.concern(request) || this.cors.apply(request, response)) {
			reject(answer, request, response);
		}
	}

	/** Answers a rejected request. */
	void reject(Answer answer, HttpServletRequest request, HttpServletResponse response) throws IOException {
		prepare(answer, response);
		this.rejections.write(answer, request, response);
	}

	/** Prepares the headers of an answer, also for one of the application. */
	void prepare(Answer answer, HttpServletResponse response) {
		for (String name : CONTENT_HEADERS) {
			if (response.containsHeader(name)) {
				response.setHeader(name, null);
			}
		}
		Long seconds = answer.retryAfter();
		if (seconds != null) {
			response.setHeader(HttpHeaders.RETRY_AFTER, seconds.toString());
		}
		ExposedHeaders.expose(this.headers, response);
	}

	/** Returns whether a header says how or when to try again. */
	boolean writes(String header) {
		return HttpHeaders.RETRY_AFTER.equalsIgnoreCase(header)
				|| this.headers.names().stream().anyMatch(header::equalsIgnoreCase);
	}

}
