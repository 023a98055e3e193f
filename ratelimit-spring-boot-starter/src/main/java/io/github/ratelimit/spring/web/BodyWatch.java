package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.io.PrintWriter;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;

/**
 * A response that knows whether somebody has begun to answer with it.
 */
final class BodyWatch extends HttpServletResponseWrapper {

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
