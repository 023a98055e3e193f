package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests with more limits than the store decides at once: each of two policies has 200,
 * and a third denies the second request of a client.
 */
@EachContainer
class ManyLimitsIT {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	private static final List<String> HEADERS = IntStream.range(0, 10).mapToObj((i) -> "X-" + i).toList();

	private static final String LIMITS = IntStream.rangeClosed(1, 20)
		.mapToObj((minutes) -> "9/" + minutes + "m")
		.collect(Collectors.joining(","));

	@Parameter
	Container container;

	@ParameterizedTest
	@ValueSource(strings = { "/path", "/method" })
	void allLimitsCountAndDeniedRequestsCountNothing(String path) {
		TestApplication application = application("all");
		HttpResponse<String> allowed = get(application, path);
		assertThat(allowed.statusCode()).isEqualTo(200);
		assertThat(allowed.headers().firstValue("X-Rate-Limit-Remaining")).contains("0");
		assertUsed(application, 1);
		HttpResponse<String> denied = get(application, path);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(denied.headers().firstValue("Retry-After")).contains("3600");
		assertUsed(application, 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/path", "/method" })
	void allLimitsAreRefunded(String path) {
		TestApplication application = application("status in [401]");
		for (int i = 0; i < 3; i++) {
			assertThat(get(application, path).statusCode()).isEqualTo(200);
			assertUsed(application, 0);
		}
	}

	private TestApplication application(String countWhen) {
		String identifiers = HEADERS.stream().map((name) -> "header:" + name).collect(Collectors.joining(","));
		Stream<String> properties = Stream.of("many", "more", "narrow")
			.flatMap((policy) -> Stream
				.of(".limits=" + (policy.equals("narrow") ? "1/h" : LIMITS), ".identifiers=" + identifiers,
						".paths=/path", ".algorithm=fixed-window", ".missing-identifier=deny",
						countWhen.equals("all") ? ".mode=enforce" : ".count-when=" + countWhen)
				.map((property) -> "ratelimit.policies." + policy + property));
		return applications.get(this.container, Application.class, properties.toArray(String[]::new));
	}

	private static HttpResponse<String> get(TestApplication application, String path) {
		return application.get(path,
				HEADERS.stream().flatMap((name) -> Stream.of(name, "somebody")).toArray(String[]::new));
	}

	private static void assertUsed(TestApplication application, long used) {
		for (String policy : List.of("many", "more")) {
			application.assertUsed(policy, new Identifier("header:X-9", "somebody"), used);
		}
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/path")
		String path() {
			return "served";
		}

		@RateLimited(policy = "many")
		@RateLimited(policy = "more")
		@RateLimited(policy = "narrow")
		@GetMapping("/method")
		String method() {
			return "served";
		}

	}

}
