package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.spring.web.Browser.Seen;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a page of another origin can read, in the ways in which an application may say
 * that it can, and what becomes of preflight requests: those that CORS code answers.
 */
class CorsIT extends CorsApplications {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	private static final String[] HEADERS = { "ratelimit-policy", "ratelimit", "x-rate-limit-limit",
			"x-rate-limit-remaining", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset" };

	private static final String[] WRONG_LOGIN = { "Authorization", "Basic d3Jvbmc6d3Jvbmc=" };

	private static final String[] WRONG_KEY = { "X-Api-Key", "wrong" };

	private static TestApplication application(Class<?> configuration) {
		return application(Container.TOMCAT, configuration);
	}

	private static TestApplication application(Container container, Class<?> configuration) {
		return applications.get(container, configuration, """
				ratelimit:
				  headers.styles: draft,x-rate-limit,x-ratelimit
				  policies:
				    api: { paths: /api/**, limits: 1/m }
				    user: { paths: /user, limits: 1/m, identifiers: user }
				""");
	}

	@ParameterizedTest
	@ValueSource(classes = { WithMvc.class, WithFilter.class, SecurityWithMvc.class })
	void pageReadsAllowedAndDeniedResponses(Class<?> configuration) {
		assertReadable(application(configuration));
		assertReadable(application(Container.JETTY, configuration));
	}

	private static void assertReadable(TestApplication application) {
		for (String path : List.of("/api/x", "/user", "/annotated")) {
			assertReadable(new Browser(application), path);
			assertHidden(new Browser(application, "https://other.example", false), path);
		}
		assertThat(application.decisions()).isGreaterThanOrEqualTo(6);
	}

	private static void assertReadable(Browser browser, String path) {
		Seen allowed = browser.fetch(path);
		assertThat(allowed.status()).isEqualTo(200);
		assertThat(allowed.headers()).contains(HEADERS).contains("x-of-application").doesNotContain("x-secret");
		Seen denied = browser.fetch(path);
		assertThat(denied.status()).isEqualTo(429);
		assertThat(denied.headers()).contains(HEADERS).contains("retry-after", "content-type");
		assertThat(denied.response().headers().allValues("Retry-After")).containsExactly("60");
		for (Seen seen : List.of(allowed, denied)) {
			assertThat(seen.response().headers().allValues("Access-Control-Allow-Origin")).hasSize(1);
			assertThat(seen.response().headers().allValues("Access-Control-Expose-Headers")).hasSize(1);
			assertThat(String.join(",", seen.response().headers().allValues("Vary"))).contains("Origin");
		}
	}

	private static void assertHidden(Browser browser, String path) {
		HttpResponse<String> response = browser.application().get(path, "Origin", browser.origin());
		assertThat(response.statusCode()).isIn(403, 429);
		assertThat(response.headers().map()).doesNotContainKeys("access-control-allow-origin",
				"access-control-expose-headers");
		assertThat(browser.tryFetch(path)).isEmpty();
	}

	@Test
	void pageReadsWhatItsHandlerAllows() {
		TestApplication application = application(Plain.class);
		Browser browser = new Browser(application, PAGE, true);
		assertThat(preflight(application, "/api/cross").headers().firstValue("Access-Control-Allow-Origin"))
			.hasValue(PAGE);
		assertThat(browser.fetch("/api/cross").headers()).contains(HEADERS);
		Seen denied = browser.fetch("/api/cross");
		assertThat(denied.status()).isEqualTo(429);
		assertThat(denied.headers()).contains(HEADERS).contains("retry-after");
		assertNoCors(application.get("/api/x", "Origin", PAGE));
	}

	/** Nor for an origin that cannot be read. */
	@ParameterizedTest
	@ValueSource(strings = { PAGE, "https://[" })
	void nothingIsAddedWhenApplicationAllowsNoOrigin(String origin) {
		TestApplication application = application(Plain.class);
		for (int status : new int[] { 200, 429 }) {
			HttpResponse<String> response = application.get("/api/x", "Origin", origin);
			assertThat(response.statusCode()).isEqualTo(status);
			assertNoCors(response);
			assertNoCors(application.get("/annotated", "Origin", origin));
		}
	}

	@Test
	void nothingIsAddedWhenRequestIsOfSameOrigin() {
		TestApplication application = application(WithMvc.class);
		for (int i = 0; i < 2; i++) {
			for (String path : List.of("/api/x", "/annotated")) {
				assertNoCors(application.get(path, "Origin", "http://127.0.0.1:" + application.port()));
				assertNoCors(application.get(path));
			}
		}
	}

	@Test
	void filterCountsOnlyOnPathsThatItIsRegisteredFor() {
		TestApplication application = application(WithFilterOfOtherPath.class);
		application.get("/api/x", "Origin", PAGE);
		HttpResponse<String> denied = application.get("/api/x", "Origin", PAGE);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertNoCors(denied);
		application.forget();
		assertReadable(new Browser(application), "/api/open/x");
	}

	/** Also with wrong credentials, which CORS code does not look at. */
	@ParameterizedTest
	@ValueSource(classes = { WithMvc.class, WithFilter.class, SecurityWithMvc.class })
	void preflightIsRefundedAndAnsweredWithoutQuotaToo(Class<?> configuration) {
		TestApplication application = application(configuration);
		for (int used = 0; used <= 1; used++) {
			HttpResponse<String> preflight = preflight(application, "/api/x", WRONG_LOGIN);
			assertThat(preflight.statusCode()).isEqualTo(200);
			assertThat(preflight.headers().allValues("Access-Control-Allow-Origin")).containsExactly(PAGE);
			application.assertUsed("api", used);
			assertThat(application.get("/api/x").statusCode()).isEqualTo((used == 0) ? 200 : 429);
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { WithMvc.class, SecurityWithoutCors.class })
	void preflightIsCountedWhenAnotherServletGetsIt(Class<?> configuration) {
		TestApplication application = application(configuration);
		assertThat(preflight(application, "/api/servlet").body()).isEqualTo("reached");
		application.assertUsed("api", 1);
		assertThat(preflight(application, "/api/servlet").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@ValueSource(classes = { SecurityWithoutCors.class, LoginBeforeCors.class })
	void preflightIsLimitedWhenCredentialsAreCheckedBeforeCors(Class<?> configuration) {
		for (Container container : Container.values()) {
			assertGuessesAreLimited(application(container, configuration), WRONG_LOGIN);
		}
	}

	/** Or keys could be guessed without limit. */
	@ParameterizedTest
	@ValueSource(classes = { KeyFilter.class, KeyFilterBeforeSecurity.class, KeyFilterAfterAllowedOrigin.class,
			KeyInterceptor.class })
	void preflightIsLimitedWhenApplicationReadsKeys(Class<?> configuration) {
		assertGuessesAreLimited(application(configuration), WRONG_KEY);
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
		assertThat(new Browser(application).fetch("/api/x").status()).isEqualTo(429);
	}

	private static HttpResponse<String> preflight(TestApplication application, String path, String... headers) {
		return application.send("OPTIONS", path,
				Stream.concat(Stream.of("Origin", PAGE, "Access-Control-Request-Method", "GET"), Stream.of(headers))
					.toArray(String[]::new));
	}

	private static void assertNoCors(HttpResponse<String> response) {
		assertThat(response.headers().map().keySet()).noneMatch((name) -> name.startsWith("access-control-"));
	}

}
