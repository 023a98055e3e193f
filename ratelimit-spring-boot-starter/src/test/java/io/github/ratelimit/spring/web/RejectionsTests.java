package io.github.ratelimit.spring.web;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

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
import io.github.ratelimit.spring.SecurityFilters;
import io.github.ratelimit.spring.config.RateLimitProperties.RejectionProperties;
import io.github.ratelimit.spring.decide.Decider;
import io.github.ratelimit.spring.web.answer.Answer;
import io.github.ratelimit.spring.web.answer.Rejections;
import io.github.ratelimit.spring.web.answer.StatusHeaders;
import io.github.ratelimit.spring.web.answer.UncaughtDenials;
import io.github.ratelimit.spring.web.cors.ApplicationCors;
import io.github.ratelimit.test.ManualClock;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.mock.web.DelegatingServletOutputStream;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
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

	private static final String VIOLATED = ",\"violated-policies\":[\"a \\\"b\\\" \\\\/s\",\"a \\\"b\\\" \\\\/m\"]}";

	private static final Answer DENIED = new Answer(Reason.DENIED, decision(1, 1));

	/** One limit denies for less time than the other. */
	@ParameterizedTest
	@CsvSource({ "1, 0, 1", "1000000, 0, 1", "1000001, 0, 2", "1000000, 30000000, 30", "1000000, -1, " })
	void retryAfterIsLongestWaitInWholeSeconds(long perSecond, long perMinute, @Nullable String expected)
			throws IOException {
		MockHttpServletResponse response = write(rejections(null), decision(perSecond, perMinute));
		assertThat(response.getHeader("Retry-After")).isEqualTo(expected);
	}

	@Test
	void blockHasStatusOfPropertiesAndItsOwnType() throws IOException {
		Rejections rejections = new Rejections(new RejectionProperties(420, "https://example.com/problems/quota"),
				JsonMapper.shared(), null, new UncaughtDenials());
		MockHttpServletResponse response = write(rejections, new Decision(false, List.of(), Duration.ofMillis(90_001)));
		assertThat(response.getStatus()).isEqualTo(420);
		assertThat(response.getHeader("Retry-After")).isEqualTo("91");
		assertThat(response.getContentAsString()).isEqualTo("""
				{"type":"https://iana.org/assignments/http-problem-types#abnormal-usage-detected",\
				"title":"Request not satisfied due to detection of abnormal request pattern",\
				"status":420,"violated-policies":[]}""");
	}

	@Test
	void failureIsPassedOnWhenConnectionBreaks() throws IOException {
		OutputStream broken = OutputStream.nullOutputStream();
		broken.close();
		MockHttpServletResponse response = new MockHttpServletResponse() {

			@Override
			public ServletOutputStream getOutputStream() {
				return new DelegatingServletOutputStream(broken);
			}

		};
		assertThatIOException().isThrownBy(() -> rejections(null).write(DENIED, new MockHttpServletRequest(), response))
			.withMessage("Stream closed");
		assertThat(resolver().resolveException(new MockHttpServletRequest(), response, null,
				new RateLimitExceededException(decision(1, 1))))
			.isNotNull();
	}

	@Test
	void responseThatIsOnItsWayIsNotAnsweredAgain() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		RateLimitExceededException denied = new RateLimitExceededException(decision(1, 1));
		assertThatExceptionOfType(RateLimitExceededException.class)
			.isThrownBy(() -> filter().doFilter(new MockHttpServletRequest(), response, (request, same) -> {
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
		filter().doFilter(new MockHttpServletRequest(), response, (request, same) -> {
			throw denied;
		});
		assertThat(resolver().resolveException(new MockHttpServletRequest(), response, null, denied)).isNotNull();
		assertThat(response.getStatus()).isEqualTo(400);
		assertThat(response.getContentAsByteArray()).isEmpty();
	}

	@Test
	void requestIsKnownInItsChainOnly() throws IOException, ServletException {
		MockHttpServletRequest outer = new MockHttpServletRequest("GET", "/outer");
		MockHttpServletRequest inner = new MockHttpServletRequest("GET", "/inner");
		assertThatExceptionOfType(ServletException.class).isThrownBy(() -> serve(outer, (request, response) -> {
			serve(inner, (same, other) -> assertFound(inner));
			assertFound(outer);
			RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(inner));
			assertFound(inner);
			RequestContextHolder.resetRequestAttributes();
			assertFound(outer);
			throw new ServletException("failed");
		}));
		assertThat(RateLimitExceededFilter.currentRequest()).isNull();
	}

	private static void assertFound(MockHttpServletRequest request) {
		assertThat(RateLimitExceededFilter.currentRequest()).isNotNull()
			.extracting(ServletRequestAttributes::getRequest)
			.isSameAs(request);
	}

	private static void serve(MockHttpServletRequest request, FilterChain chain) throws IOException, ServletException {
		filter().doFilter(request, new MockHttpServletResponse(), chain);
	}

	private static RateLimitExceededFilter filter() {
		return new RateLimitExceededFilter(responses(rejections(null)), decisions(), (request) -> (name) -> null);
	}

	private static RateLimitExceededResolver resolver() {
		return new RateLimitExceededResolver(responses(rejections(null)), new StaticWebApplicationContext());
	}

	static Stream<Arguments> handlers() {
		return Stream.of(handler((rejection, request, response) -> response.setStatus(420), 420, "420" + VIOLATED),
				handler((rejection, request, response) -> rejection.problem().setStatus(503), 503, "503" + VIOLATED),
				handler((rejection, request, response) -> {
					rejection.problem().setDetail("Later");
					rejection.problem().setInstance(URI.create("/requests/1"));
					rejection.problem().setProperty("violated-policies", "none");
				}, 429, "429,\"detail\":\"Later\",\"instance\":\"/requests/1\",\"violated-policies\":\"none\"}"),
				handler((rejection, request, response) -> response.getWriter().write("Slow down"), 429, "Slow down"),
				handler((rejection, request, response) -> response.sendError(503), 503, ""),
				handler((rejection, request, response) -> response.sendRedirect("/wait"), 302, ""));
	}

	private static Arguments handler(RejectionHandler handler, int status, String body) {
		return Arguments.of(handler, status, body);
	}

	@ParameterizedTest
	@MethodSource("handlers")
	void handlerChangesOrReplacesAnswer(RejectionHandler handler, int status, String body) throws IOException {
		MockHttpServletResponse response = write(rejections(handler), decision(1, 1));
		assertThat(response.getStatus()).isEqualTo(status);
		assertThat(response.getHeader("Retry-After")).isEqualTo("1");
		assertThat(response.getContentAsString().replaceFirst(".*\"status\":", "")).isEqualTo(body);
	}

	@Test
	void answerIsTheStandardOneWhenHandlerFails(CapturedOutput output) throws IOException {
		FileNotFoundException missing = new FileNotFoundException("denied.html");
		Iterator<Exception> failures = List
			.<Exception>of(new IllegalStateException("first"), new IllegalStateException("second"), missing,
					new UncheckedIOException(missing))
			.iterator();
		Rejections rejections = rejections((rejection, request, response) -> {
			rejection.problem().setStatus(200);
			response.setStatus(302);
			response.setHeader("Location", "/wait");
			response.setHeader("Retry-After", "90");
			response.getWriter().write("half an ans");
			fail(failures.next());
		});
		while (failures.hasNext()) {
			MockHttpServletResponse response = write(rejections, decision(1, 1));
			assertThat(response.getStatus()).isEqualTo(429);
			assertThat(response.getHeader("Location")).isNull();
			assertThat(response.getHeader("Retry-After")).isEqualTo("1");
			assertThat(response.getContentAsString()).startsWith("{\"type\":").contains("\"status\":429").endsWith("}");
		}
		assertThat(output).containsOnlyOnce("This is logged once for java.lang.IllegalStateException");
	}

	@Test
	void failureOfAnswerOnItsWayIsPassedOn() {
		IOException broken = new IOException("Broken pipe");
		for (Exception failure : List.of(broken, new UncheckedIOException(broken))) {
			assertThatIOException().isThrownBy(() -> write(rejections((rejection, request, same) -> {
				same.flushBuffer();
				fail(failure);
			}), decision(1, 1))).isSameAs(broken);
		}
	}

	private static void fail(Exception failure) throws IOException {
		if (failure instanceof IOException checked) {
			throw checked;
		}
		throw (RuntimeException) failure;
	}

	private static MockHttpServletResponse write(Rejections rejections, Decision decision) throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		responses(rejections).reject(new Answer(Reason.DENIED, decision), new MockHttpServletRequest(), response);
		return response;
	}

	private static Rejections rejections(@Nullable RejectionHandler handler) {
		return new Rejections(new RejectionProperties(429, null), JsonMapper.shared(), handler, new UncaughtDenials());
	}

	static Decider decisions() {
		return new Decider(new MemoryRateLimiter(new ManualClock("2026-01-01T00:00:00Z")), List.of(), List::of);
	}

	private static LimitedResponses responses(Rejections rejections) {
		return new LimitedResponses(new StatusHeaders(Set.of(), Instant::now, Map.of()), rejections,
				new ApplicationCors(SecurityFilters.NONE, new StaticWebApplicationContext()), SecurityFilters.NONE);
	}

	private static Decision decision(long perSecond, long perMinute) {
		return new Decision(false,
				List.of(LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, POLICY.limits().get(0), 0, 1, perSecond,
						perSecond != 0),
						LimitStatus.ofMicros(POLICY, Identifier.GLOBAL, POLICY.limits().get(1), 0, 1, perMinute,
								perMinute != 0)));
	}

}
