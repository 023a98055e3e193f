package io.github.ratelimit.spring.web;

import io.github.ratelimit.spring.SecurityFilters;
import io.github.ratelimit.spring.web.answer.Rejections;
import io.github.ratelimit.spring.web.answer.Answer;
import io.github.ratelimit.spring.web.answer.StatusHeaders;
import io.github.ratelimit.spring.web.cors.ApplicationCors;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.UnsupportedEncodingException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.RateLimitExceededException;
import io.github.ratelimit.spring.Rejection.Reason;
import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.config.RateLimitProperties.RejectionProperties;
import io.github.ratelimit.test.ManualClock;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.DelegatingServletOutputStream;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.context.support.StaticWebApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * Tests for {@link Rejections}.
 */
@ExtendWith(OutputCaptureExtension.class)
class RejectionsTests {

	private static final Policy POLICY = Policy.of("a \"b\" \\", new FixedWindow(), Limit.parse("2/s"),
			Limit.parse("10/m"));

	private static final int NEVER = -1;

	private static final Answer DENIED = new Answer(Reason.DENIED, decision(1, 1));

	@ParameterizedTest
	@CsvSource({ "1, 1", "999999, 1", "1000000, 1", "1000001, 2", "59999999, 60", "60000000, 60" })
	void retryAfterIsWholeSecondsRoundedUp(long micros, String expected) {
		assertThat(write(micros, 0).getHeader("Retry-After")).isEqualTo(expected);
	}

	@Test
	void retryAfterIsLongestOfViolatedLimits() {
		assertThat(write(1_000_000, 30_000_000).getHeader("Retry-After")).isEqualTo("30");
	}

	@Test
	void retryAfterIsMissingWhenOneLimitNeverAllows() {
		assertThat(write(1_000_000, NEVER).getHeader("Retry-After")).isNull();
	}

	@Test
	void blockIsAnotherTypeOfProblem() throws UnsupportedEncodingException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		write(new Decision(false, List.of(), Duration.ofMillis(90_001)), response);
		assertThat(response.getStatus()).isEqualTo(429);
		assertThat(response.getHeader("Retry-After")).isEqualTo("91");
		assertThat(response.getContentAsString()).isEqualTo("""
				{"type":"https://iana.org/assignments/http-problem-types#abnormal-usage-detected",\
				"title":"Request not satisfied due to detection of abnormal request pattern",\
				"status":429,"violated-policies":[]}""");
	}

	@Test
	void failureIsPassedOnWhenConnectionBreaks() {
		MockHttpServletResponse response = new MockHttpServletResponse() {

			@Override
			public ServletOutputStream getOutputStream() {
				return new DelegatingServletOutputStream(new OutputStream() {

					@Override
					public void write(int octet) throws IOException {
						throw new IOException("Broken pipe");
					}

				});
			}

		};
		assertThatIOException().isThrownBy(() -> rejections(null).write(DENIED, new MockHttpServletRequest(), response))
			.withMessage("Broken pipe");
		assertThat(resolver().resolveException(new MockHttpServletRequest(), response, null,
				new RateLimitExceededException(decision(1, 1))))
			.isNotNull();
	}

	@Test
	void responseThatIsOnItsWayIsNotAnsweredAgain() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		RateLimitExceededException denied = new RateLimitExceededException(decision(1, 1));
		assertThatExceptionOfType(RateLimitExceededException.class)
			.isThrownBy(() -> new RateLimitExceededFilter(responses(), decisions(), (request) -> (name) -> null)
				.doFilter(new MockHttpServletRequest(), response, (request, same) -> {
					same.getWriter().write("begun");
					same.flushBuffer();
					throw denied;
				}))
			.isSameAs(denied);
		assertThat(response.getStatus()).isEqualTo(200);
		assertThat(response.getContentAsString()).isEqualTo("begun");
	}

	@Test
	void errorThatIsOnItsWayIsTheAnswer() throws IOException, ServletException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		response.sendError(400);
		RateLimitExceededException denied = new RateLimitExceededException(decision(1, 1));
		rejections(null).write(DENIED, new MockHttpServletRequest(), response);
		new RateLimitExceededFilter(responses(), decisions(), (request) -> (name) -> null)
			.doFilter(new MockHttpServletRequest(), response, (request, same) -> {
				throw denied;
			});
		assertThat(resolver().resolveException(new MockHttpServletRequest(), response, null, denied)).isNotNull();
		assertThat(response.getStatus()).isEqualTo(400);
		assertThat(response.getContentAsByteArray()).isEmpty();
	}

	private static RateLimitExceededResolver resolver() {
		return new RateLimitExceededResolver(responses(), new StaticWebApplicationContext());
	}

	@Test
	void handlerFindsAnswerReady() throws IOException {
		handle(new MockHttpServletResponse(), (rejection, request, response) -> {
			assertThat(response.getStatus()).isEqualTo(429);
			assertThat(response.getHeader("Retry-After")).isEqualTo("1");
			assertThat(rejection.reason()).isEqualTo(Reason.DENIED);
			assertThat(rejection.decision()).isNotNull();
			assertThat(rejection.problem().getStatus()).isEqualTo(429);
			assertThat(rejection.problem().getProperties()).containsKey("violated-policies");
		});
	}

	@Test
	void handlerChangesProblem() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		handle(response, (rejection, request, same) -> {
			rejection.problem().setDetail("Come back later");
			rejection.problem().setInstance(URI.create("/requests/1"));
			rejection.problem().setProperty("shop", "open");
		});
		assertThat(response.getStatus()).isEqualTo(429);
		assertThat(response.getContentAsString()).endsWith("""
				"status":429,"detail":"Come back later","instance":"/requests/1",\
				"violated-policies":["a \\"b\\" \\\\/s","a \\"b\\" \\\\/m"],"shop":"open"}""");
	}

	@Test
	void statusOfBodyFollowsThatOfResponse() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		handle(response, (rejection, request, same) -> same.setStatus(420));
		assertThat(response.getStatus()).isEqualTo(420);
		assertThat(response.getContentAsString()).contains("\"status\":420");
	}

	@Test
	void statusOfResponseFollowsThatOfProblem() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		handle(response, (rejection, request, same) -> rejection.problem().setStatus(503));
		assertThat(response.getStatus()).isEqualTo(503);
		assertThat(response.getContentAsString()).contains("\"status\":503");
	}

	@Test
	void bodyOfHandlerReplacesStandardOne() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		handle(response, (rejection, request, same) -> {
			same.setContentType("text/plain");
			same.getWriter().write("Slow down");
		});
		assertThat(response.getStatus()).isEqualTo(429);
		assertThat(response.getContentType()).startsWith("text/plain");
		assertThat(response.getHeader("Retry-After")).isEqualTo("1");
		assertThat(response.getContentAsString()).isEqualTo("Slow down");
	}

	@Test
	void errorOrRedirectOfHandlerReplacesBody() throws IOException {
		MockHttpServletResponse error = new MockHttpServletResponse();
		handle(error, (rejection, request, same) -> same.sendError(503));
		assertThat(error.getStatus()).isEqualTo(503);
		assertThat(error.getContentAsString()).isEmpty();
		MockHttpServletResponse redirect = new MockHttpServletResponse();
		handle(redirect, (rejection, request, same) -> same.sendRedirect("/wait"));
		assertThat(redirect.getRedirectedUrl()).isEqualTo("/wait");
		assertThat(redirect.getContentAsString()).isEmpty();
	}

	@Test
	void answerIsTheStandardOneWhenHandlerFails(CapturedOutput output) throws IOException {
		Rejections rejections = rejections((rejection, request, response) -> {
			rejection.problem().setStatus(200);
			response.setStatus(302);
			response.setHeader("Location", "/wait");
			response.setHeader("Retry-After", "90");
			response.getWriter().write("half an ans");
			throw new IllegalStateException("expected by this test");
		});
		for (int i = 0; i < 3; i++) {
			MockHttpServletResponse response = new MockHttpServletResponse();
			rejections.write(DENIED, new MockHttpServletRequest(), response);
			assertThat(response.getStatus()).isEqualTo(429);
			assertThat(response.getHeader("Location")).isNull();
			assertThat(response.getHeader("Retry-After")).isEqualTo("1");
			assertThat(response.getContentAsString()).startsWith("{\"type\":").contains("\"status\":429").endsWith("}");
		}
		assertThat(output).containsOnlyOnce("so that the standard answer was sent");
	}

	@Test
	void handlerThatCannotReadGetsStandardAnswer() throws IOException {
		for (Exception failure : List.of(new FileNotFoundException("denied.html"),
				new UncheckedIOException(new FileNotFoundException("denied.html")))) {
			MockHttpServletResponse response = new MockHttpServletResponse();
			handle(response, (rejection, request, same) -> {
				same.getWriter().write("half an ans");
				fail(failure);
			});
			assertThat(response.getStatus()).isEqualTo(429);
			assertThat(response.getContentAsString()).startsWith("{\"type\":");
		}
	}

	@Test
	void failureOfAnswerOnItsWayIsPassedOn() {
		for (Exception failure : List.of(new IOException("Broken pipe"),
				new UncheckedIOException(new IOException("Broken pipe")))) {
			assertThatIOException()
				.isThrownBy(() -> handle(new MockHttpServletResponse(), (rejection, request, same) -> {
					same.flushBuffer();
					fail(failure);
				}))
				.withMessage("Broken pipe");
		}
	}

	private static void fail(Exception failure) throws IOException {
		if (failure instanceof IOException checked) {
			throw checked;
		}
		throw (RuntimeException) failure;
	}

	@Test
	void statusAndTypeAreThoseOfProperties() throws IOException {
		Rejections rejections = new Rejections(new RejectionProperties(420, "https://example.com/problems/quota"),
				JsonMapper.shared(), null);
		MockHttpServletResponse response = new MockHttpServletResponse();
		rejections.write(DENIED, new MockHttpServletRequest(), response);
		assertThat(response.getStatus()).isEqualTo(420);
		assertThat(response.getHeader("Retry-After")).isEqualTo("1");
		assertThat(response.getContentAsString()).startsWith("{\"type\":\"https://example.com/problems/quota\",")
			.contains("\"status\":420");
		MockHttpServletResponse blocked = new MockHttpServletResponse();
		rejections.write(new Answer(Reason.DENIED, new Decision(false, List.of(), Duration.ofSeconds(1))),
				new MockHttpServletRequest(), blocked);
		assertThat(blocked.getStatus()).isEqualTo(420);
		assertThat(blocked.getContentAsString()).contains("#abnormal-usage-detected");
	}

	private static void handle(MockHttpServletResponse response, RejectionHandler handler) throws IOException {
		rejections(handler).write(DENIED, new MockHttpServletRequest(), response);
	}

	private static Rejections rejections(@Nullable RejectionHandler handler) {
		return new Rejections(new RejectionProperties(429, null), JsonMapper.shared(), handler);
	}

	static Decider decisions() {
		return new Decider(new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")), List.of(), List::of);
	}

	static LimitedResponses responses() {
		return new LimitedResponses(new StatusHeaders(Set.of(), Instant::now, Map.of()), rejections(null),
				new ApplicationCors(SecurityFilters.NONE, new StaticWebApplicationContext(), (filter) -> false),
				SecurityFilters.NONE);
	}

	private static MockHttpServletResponse write(long perSecond, long perMinute) {
		MockHttpServletResponse response = new MockHttpServletResponse();
		write(decision(perSecond, perMinute), response);
		return response;
	}

	private static void write(Decision decision, MockHttpServletResponse response) {
		try {
			rejections(null).write(new Answer(Reason.DENIED, decision), new MockHttpServletRequest(), response);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Decision decision(long perSecond, long perMinute) {
		return new Decision(false,
				List.of(LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, POLICY.limits().get(0), 0, 1, perSecond,
						perSecond != 0),
						LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, POLICY.limits().get(1), 0, 1, perMinute,
								perMinute != 0)));
	}

}
