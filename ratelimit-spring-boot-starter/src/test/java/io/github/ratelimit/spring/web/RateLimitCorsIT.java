package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.util.List;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.web.Browser.Seen;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a page of another origin can read, in the ways in which an application may say
 * that it can.
 */
class RateLimitCorsIT {

	@RegisterExtension
	static final TestApplications applications = new TestApplications();

	private static final String PAGE = "https://page.example";

	private static final String[] POLICIES = { "ratelimit.policies.api.paths=/api/**",
			"ratelimit.policies.api.limits=1/m", "ratelimit.policies.user.paths=/user",
			"ratelimit.policies.user.limits=1/m", "ratelimit.policies.user.identifiers=user",
			"ratelimit.headers.styles=draft,x-rate-limit,x-ratelimit" };

	private static final String[] HEADERS = { "ratelimit-policy", "ratelimit", "x-rate-limit-limit",
			"x-rate-limit-remaining", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset" };

	@ParameterizedTest
	@ValueSource(classes = { MappingsOfMvc.class, FilterBean.class, RegisteredFilter.class, EarlyFilter.class,
			SecurityWithSource.class, SecurityWithInlineSource.class, SecurityWithMvc.class, FilterAndMvc.class })
	void pageReadsAllowedAndDeniedResponses(Class<?> configuration) {
		assertReadable(applications.get(configuration, POLICIES));
	}

	@ParameterizedTest
	@ValueSource(classes = { MappingsOfMvc.class, EarlyFilter.class, SecurityWithSource.class })
	void pageReadsResponsesOfJetty(Class<?> configuration) {
		assertReadable(applications.get(Container.JETTY, configuration, POLICIES));
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
		TestApplication application = applications.get(AnnotatedHandlers.class, POLICIES);
		Browser browser = new Browser(application, PAGE, true);
		assertThat(browser.fetch("/api/cross").headers()).contains(HEADERS);
		Seen denied = browser.fetch("/api/cross");
		assertThat(denied.status()).isEqualTo(429);
		assertThat(denied.headers()).contains(HEADERS).contains("retry-after");
		HttpResponse<String> other = application.get("/api/x", "Origin", PAGE);
		assertThat(other.statusCode()).isEqualTo(429);
		assertNoCors(other);
	}

	@Test
	void nothingIsAddedWhenApplicationAllowsNoOrigin() {
		TestApplication application = applications.get(Application.class, POLICIES);
		for (int i = 0; i < 2; i++) {
			assertNoCors(application.get("/api/x", "Origin", PAGE));
			assertNoCors(application.get("/annotated", "Origin", PAGE));
		}
	}

	@Test
	void nothingIsAddedWhenRequestIsOfSameOrigin() {
		TestApplication application = applications.get(MappingsOfMvc.class, POLICIES);
		String origin = "http://127.0.0.1:" + application.port();
		for (int i = 0; i < 2; i++) {
			for (String path : List.of("/api/x", "/annotated")) {
				assertNoCors(application.get(path, "Origin", origin));
				assertNoCors(application.get(path));
			}
		}
	}

	@Test
	void malformedOriginIsAnsweredLikeNone() {
		TestApplication application = applications.get(Application.class, POLICIES);
		assertThat(application.get("/api/x", "Origin", "https://[").statusCode()).isEqualTo(200);
		HttpResponse<String> denied = application.get("/api/x", "Origin", "https://[");
		assertThat(denied.statusCode()).isEqualTo(429);
		assertNoCors(denied);
	}

	@Test
	void filterCountsOnlyOnPathsThatItIsRegisteredFor() {
		TestApplication application = applications.get(FilterOfOtherPath.class, POLICIES);
		application.get("/api/x", "Origin", PAGE);
		HttpResponse<String> denied = application.get("/api/x", "Origin", PAGE);
		assertThat(denied.statusCode()).isEqualTo(429);
		assertNoCors(denied);
		assertThat(new Browser(application).fetch("/api/open/x").status()).isEqualTo(429);
	}

	@Test
	void filterDoesNotCountWhenItIsNotRegistered() {
		TestApplication application = applications.get(DisabledFilter.class, POLICIES);
		for (int i = 0; i < 2; i++) {
			assertNoCors(application.get("/api/x", "Origin", PAGE));
		}
	}

	@Test
	void pageReadsThatStoreFailed() {
		try (TestApplication application = TestApplication.startWithOwnLimiter(MappingsOfMvc.class,
				"ratelimit.redis.url=redis://127.0.0.1:1", "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.limits=1/m", "ratelimit.defaults.on-store-failure=deny")) {
			for (String path : List.of("/api/x", "/annotated")) {
				Seen seen = new Browser(application).fetch(path);
				assertThat(seen.status()).isEqualTo(503);
				assertThat(seen.headers()).contains("retry-after");
			}
		}
	}

	@Test
	void preflightIsFreeAndAnswered() {
		TestApplication application = applications.get(MappingsOfMvc.class, POLICIES);
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> preflight = application.send("OPTIONS", "/api/x", "Origin", PAGE,
					"Access-Control-Request-Method", "GET");
			assertThat(preflight.statusCode()).isEqualTo(200);
			assertThat(preflight.headers().allValues("Access-Control-Allow-Origin")).containsExactly(PAGE);
		}
		assertThat(application.decisions()).isZero();
	}

	private static void assertNoCors(HttpResponse<String> response) {
		assertThat(response.headers().map().keySet()).noneMatch((name) -> name.startsWith("access-control-"));
	}

	private static CorsConfiguration cors() {
		CorsConfiguration cors = new CorsConfiguration();
		cors.addAllowedOrigin(PAGE);
		cors.addExposedHeader("X-Of-Application");
		return cors;
	}

	private static UrlBasedCorsConfigurationSource source() {
		UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
		source.registerCorsConfiguration("/**", cors());
		return source;
	}

	@RestController
	static class Handlers {

		@GetMapping({ "/api/x", "/user", "/api/open/x" })
		String get(HttpServletResponse response) {
			response.setHeader("X-Of-Application", "1");
			response.setHeader("X-Secret", "1");
			return "served";
		}

		@GetMapping("/annotated")
		@RateLimited(limits = "1/m")
		public String annotated(HttpServletResponse response) {
			return get(response);
		}

	}

	@OpenApplication
	static class Application {

		@Bean
		Handlers handlers() {
			return new Handlers();
		}

	}

	static class MappingsOfMvc extends Application implements WebMvcConfigurer {

		@Override
		public void addCorsMappings(CorsRegistry registry) {
			registry.addMapping("/**").allowedOrigins(PAGE).exposedHeaders("X-Of-Application");
		}

	}

	static class FilterBean extends Application {

		@Bean
		CorsFilter crossOrigin() {
			return new CorsFilter(source());
		}

	}

	static class RegisteredFilter extends Application {

		@Bean
		FilterRegistrationBean<CorsFilter> crossOrigin() {
			return new FilterRegistrationBean<>(new CorsFilter(source()));
		}

	}

	static class EarlyFilter extends Application {

		@Bean
		FilterRegistrationBean<CorsFilter> crossOrigin() {
			FilterRegistrationBean<CorsFilter> registration = new FilterRegistrationBean<>(new CorsFilter(source()));
			registration.setOrder(-1000);
			return registration;
		}

	}

	static class FilterAndMvc extends MappingsOfMvc {

		@Bean
		CorsFilter crossOrigin() {
			return new CorsFilter(source());
		}

	}

	static class FilterOfOtherPath extends Application {

		@Bean
		FilterRegistrationBean<CorsFilter> crossOrigin() {
			FilterRegistrationBean<CorsFilter> registration = new FilterRegistrationBean<>(new CorsFilter(source()));
			registration.addUrlPatterns("/api/open/*");
			return registration;
		}

	}

	static class DisabledFilter extends FilterBean {

		@Bean
		FilterRegistrationBean<CorsFilter> registration(CorsFilter filter) {
			FilterRegistrationBean<CorsFilter> registration = new FilterRegistrationBean<>(filter);
			registration.setEnabled(false);
			return registration;
		}

	}

	static class AnnotatedHandlers extends Application {

		@Bean
		CrossHandlers crossHandlers() {
			return new CrossHandlers();
		}

	}

	@RestController
	static class CrossHandlers {

		@CrossOrigin(origins = PAGE, allowCredentials = "true")
		@GetMapping("/api/cross")
		String cross() {
			return "served";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class SecureApplication {

		@Bean
		Handlers handlers() {
			return new Handlers();
		}

	}

	static class SecurityWithSource extends SecureApplication {

		@Bean
		UrlBasedCorsConfigurationSource corsConfigurationSource() {
			return source();
		}

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll()).cors((cors) -> {
			}).build();
		}

	}

	static class SecurityWithInlineSource extends SecureApplication {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.cors((cors) -> cors.configurationSource(source()))
				.build();
		}

	}

	static class SecurityWithMvc extends SecureApplication implements WebMvcConfigurer {

		@Override
		public void addCorsMappings(CorsRegistry registry) {
			registry.addMapping("/**").allowedOrigins(PAGE).exposedHeaders("X-Of-Application");
		}

		@Bean
		SecurityFilterChain chain(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll()).cors((cors) -> {
			}).build();
		}

	}

}
