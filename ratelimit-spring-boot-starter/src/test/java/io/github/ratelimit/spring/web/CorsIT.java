package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.github.ratelimit.spring.OpenApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a page of another origin can read, in the ways in which an application may say
 * that it can, and what becomes of preflight requests: those that CORS code answers.
 */
class CorsIT {

	private static final String PAGE = CorsApplication.PAGE;

	@RegisterExtension
	static final TestApplication.Shared applications = new TestApplication.Shared();

	private static final String[] HEADERS = { "ratelimit-policy", "ratelimit", "x-rate-limit-limit",
			"x-rate-limit-remaining", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset" };

	private static final String[] WRONG_LOGIN = { "Authorization", "Basic d3Jvbmc6d3Jvbmc=" };

	private static final String[] WRONG_KEY = { "X-Api-Key", "wrong" };

	private static TestApplication application(String parts) {
		return application(Container.TOMCAT, parts);
	}

	/** Starts an application with beans of {@link CorsApplication}. */
	private static TestApplication application(Container container, String parts) {
		List<String> properties = new ArrayList<>(List.of("""
				ratelimit:
				  headers.styles: draft,x-rate-limit,x-ratelimit
				  policies:
				    api: { paths: /api/**, limits: 1/m }
				    user: { paths: /user, limits: 1/m, identifiers: user }
				"""));
		Stream.of(parts.split(" ")).map((part) -> part.contains("=") ? part : part + "=true").forEach(properties::add);
		return applications.get(container, parts.contains("security") ? Secure.class : Open.class,
				properties.toArray(String[]::new));
	}

	@ParameterizedTest
	@ValueSource(strings = { "mappings", "filter", "mappings security-with-cors" })
	void pageReadsAllowedAndDeniedResponses(String parts) {
		assertReadable(application(parts));
		assertReadable(application(Container.JETTY, parts));
	}

	private static void assertReadable(TestApplication application) {
		for (String path : List.of("/api/x", "/user", "/annotated")) {
			assertReadable(application, path);
			HttpResponse<String> hidden = application.get(path, "Origin", "https://other.example");
			assertThat(hidden.statusCode()).isIn(403, 429);
			assertNoCors(hidden);
		}
		assertThat(application.decisions()).isGreaterThanOrEqualTo(6);
	}

	private static void assertReadable(TestApplication application, String path) {
		HttpResponse<String> allowed = application.get(path, "Origin", PAGE);
		assertThat(allowed.statusCode()).isEqualTo(200);
		assertThat(readable(allowed)).contains(HEADERS).contains("x-of-application").doesNotContain("x-secret");
		HttpResponse<String> denied = application.get(path, "Origin", PAGE);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertThat(readable(denied)).contains(HEADERS).contains("retry-after");
		assertThat(denied.headers().allValues("Retry-After")).containsExactly("60");
		for (HttpResponse<String> response : List.of(allowed, denied)) {
			assertThat(response.headers().allValues("Access-Control-Expose-Headers")).hasSize(1);
			assertThat(String.join(",", response.headers().allValues("Vary"))).contains("Origin");
		}
	}

	/**
	 * Names of the headers that are in the response, and that a browser lets the page
	 * read, beside those that any page can read.
	 */
	private static List<String> readable(HttpResponse<String> response) {
		assertThat(response.headers().allValues("Access-Control-Allow-Origin")).containsExactly(PAGE);
		return response.headers()
			.allValues("Access-Control-Expose-Headers")
			.stream()
			.flatMap((names) -> Stream.of(names.toLowerCase(Locale.ROOT).split("\\s*,\\s*")))
			.filter(response.headers().map()::containsKey)
			.toList();
	}

	@Test
	void pageReadsWhatItsHandlerAllows() {
		TestApplication application = application("plain");
		assertThat(preflight(application, "/api/cross").headers().firstValue("Access-Control-Allow-Origin"))
			.hasValue(PAGE);
		for (int status : new int[] { 200, 429 }) {
			HttpResponse<String> response = application.get("/api/cross", "Origin", PAGE);
			assertThat(response.statusCode()).isEqualTo(status);
			assertThat(response.headers().allValues("Access-Control-Allow-Credentials")).containsExactly("true");
			assertThat(readable(response)).contains(HEADERS);
		}
		assertNoCors(application.get("/api/x", "Origin", PAGE));
	}

	/** Nor for an origin that cannot be read. */
	@ParameterizedTest
	@ValueSource(strings = { PAGE, "https://[" })
	void nothingIsAddedWhenApplicationAllowsNoOrigin(String origin) {
		TestApplication application = application("plain");
		for (int status : new int[] { 200, 429 }) {
			HttpResponse<String> response = application.get("/api/x", "Origin", origin);
			assertThat(response.statusCode()).isEqualTo(status);
			assertNoCors(response);
			assertNoCors(application.get("/annotated", "Origin", origin));
		}
	}

	@Test
	void nothingIsAddedWhenRequestIsOfSameOrigin() {
		TestApplication application = application("mappings");
		for (int i = 0; i < 2; i++) {
			for (String path : List.of("/api/x", "/annotated")) {
				assertNoCors(application.get(path, "Origin", "http://127.0.0.1:" + application.port()));
				assertNoCors(application.get(path));
			}
		}
	}

	@Test
	void filterCountsOnlyOnPathsThatItIsRegisteredFor() {
		TestApplication application = application("filter-of-other-path");
		application.get("/api/x", "Origin", PAGE);
		HttpResponse<String> denied = application.get("/api/x", "Origin", PAGE);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertNoCors(denied);
		application.forget();
		assertReadable(application, "/api/open/x");
	}

	/** Also with wrong credentials, which CORS code does not look at. */
	@ParameterizedTest
	@ValueSource(strings = { "mappings", "filter", "mappings security-with-cors" })
	void preflightIsRefundedAndAnsweredWithoutQuotaToo(String parts) {
		TestApplication application = application(parts);
		for (int used = 0; used <= 1; used++) {
			HttpResponse<String> preflight = preflight(application, "/api/x", WRONG_LOGIN);
			assertThat(preflight.statusCode()).isEqualTo(200);
			assertThat(preflight.headers().allValues("Access-Control-Allow-Origin")).containsExactly(PAGE);
			application.assertUsed("api", used);
			assertThat(application.get("/api/x").statusCode()).isEqualTo((used == 0) ? 200 : 429);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "mappings", "mappings security-without-cors" })
	void preflightIsCountedWhenAnotherServletGetsIt(String parts) {
		TestApplication application = application(parts);
		assertThat(preflight(application, "/api/servlet").body()).isEqualTo("reached");
		application.assertUsed("api", 1);
		assertThat(preflight(application, "/api/servlet").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@ValueSource(strings = { "mappings security-without-cors", "security-before-cors" })
	void preflightIsLimitedWhenCredentialsAreCheckedBeforeCors(String parts) {
		for (Container container : Container.values()) {
			assertGuessesAreLimited(application(container, parts), WRONG_LOGIN);
		}
	}

	/** Or keys could be guessed without limit. */
	@ParameterizedTest
	@ValueSource(strings = { "mappings keys=0", "mappings security-with-cors keys=-105",
			"mappings keys=0 allowed-origin", "mappings key-interceptor" })
	void preflightIsLimitedWhenApplicationReadsKeys(String parts) {
		assertGuessesAreLimited(application(parts), WRONG_KEY);
	}

	/**
	 * The denied one is answered by CORS code, which knows no credentials, so that the
	 * page can read the denial of its request.
	 */
	private static void assertGuessesAreLimited(TestApplication application, String[] wrong) {
		for (int i = 0; i < 3; i++) {
			if (preflight(application, "/api/x").statusCode() == 200) {
				application.assertUsed("api", 0);
			}
		}
		application.forget();
		assertThat(preflight(application, "/api/x", wrong).statusCode()).isEqualTo(401);
		application.assertUsed("api", 1);
		HttpResponse<String> denied = preflight(application, "/api/x", wrong);
		assertThat(denied.statusCode()).isEqualTo(200);
		assertThat(denied.body()).isEmpty();
		assertThat(denied.headers().allValues("Access-Control-Allow-Origin")).containsExactly(PAGE);
		assertThat(denied.headers().allValues("Access-Control-Allow-Methods")).isNotEmpty();
		application.assertUsed("api", 1);
		HttpResponse<String> request = application.get("/api/x", "Origin", PAGE);
		assertThat(request.statusCode()).isEqualTo(429);
		assertThat(readable(request)).contains("retry-after");
	}

	private static HttpResponse<String> preflight(TestApplication application, String path, String... headers) {
		return application.send("OPTIONS", path,
				Stream.concat(Stream.of("Origin", PAGE, "Access-Control-Request-Method", "GET"), Stream.of(headers))
					.toArray(String[]::new));
	}

	private static void assertNoCors(HttpResponse<String> response) {
		assertThat(response.headers().map().keySet()).noneMatch((name) -> name.startsWith("access-control-"));
	}

	@OpenApplication
	@Import(CorsApplication.class)
	static class Open {

	}

	@EnableAutoConfiguration
	@Import(CorsApplication.class)
	static class Secure {

	}

}
