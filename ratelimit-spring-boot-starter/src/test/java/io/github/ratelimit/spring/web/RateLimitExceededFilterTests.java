package io.github.ratelimit.spring.web;

import java.io.IOException;

import jakarta.servlet.ServletException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RateLimitExceededFilter}.
 */
class RateLimitExceededFilterTests {

	private final MockHttpServletRequest outer = new MockHttpServletRequest("GET", "/outer");

	private final MockHttpServletRequest inner = new MockHttpServletRequest("GET", "/inner");

	@AfterEach
	void forget() {
		RequestContextHolder.resetRequestAttributes();
	}

	@Test
	void requestIsKnownInItsChainOnly() {
		assertThatExceptionOfType(ServletException.class).isThrownBy(() -> serve(this.outer, () -> {
			assertThat(found()).isSameAs(this.outer);
			serve(this.inner, () -> assertThat(found()).isSameAs(this.inner));
			assertThat(found()).isSameAs(this.outer);
			throw new ServletException("failed");
		}));
		assertThat(found()).isNull();
	}

	@Test
	void requestOfSpringComesFirst() throws IOException, ServletException {
		serve(this.outer, () -> {
			RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(this.inner));
			assertThat(found()).isSameAs(this.inner);
			RequestContextHolder.resetRequestAttributes();
			assertThat(found()).isSameAs(this.outer);
		});
	}

	private static @Nullable Object found() {
		ServletRequestAttributes attributes = RateLimitExceededFilter.currentRequest();
		return (attributes != null) ? attributes.getRequest() : null;
	}

	private static void serve(MockHttpServletRequest request, Chain chain) throws IOException, ServletException {
		new RateLimitExceededFilter(RejectionsTests.responses(), RejectionsTests.decisions(), (any) -> (name) -> null)
			.doFilter(request, new MockHttpServletResponse(), (same, response) -> chain.run());
	}

	@FunctionalInterface
	private interface Chain {

		void run() throws IOException, ServletException;

	}

}
