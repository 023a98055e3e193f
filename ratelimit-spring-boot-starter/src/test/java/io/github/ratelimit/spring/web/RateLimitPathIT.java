package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.UrlHandlerFilter;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.util.pattern.PathPatternParser;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which requests the policies of paths limit: none that is served gets around them.
 */
@EachContainer
class RateLimitPathIT {

	@Parameter
	Container container;

	private static TestApplication application;

	@BeforeParameterizedClassInvocation
	static void start(Container container) {
		application = TestApplication.start(container, Application.class, "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.limits=1/m", "ratelimit.policies.exact.paths=/exact",
				"ratelimit.policies.exact.limits=1/m", "ratelimit.policies.user.limits=4/m",
				"ratelimit.policies.user.routes[0].paths=GET /user/**", "ratelimit.policies.user.routes[0].cost=1",
				"ratelimit.policies.user.routes[1].paths=POST /user/**", "ratelimit.policies.user.routes[1].cost=2",
				"ratelimit.policies.spelt.limits=9/m", "ratelimit.policies.spelt.routes[0].paths=/spelt/item",
				"ratelimit.policies.spelt.routes[0].cost=5", "ratelimit.policies.spelt.routes[1].paths=/*/spelt/*",
				"ratelimit.policies.servlet.paths=/servlet/**", "ratelimit.policies.servlet.limits=1/m",
				"spring.web.resources.static-locations=classpath:/io/github/ratelimit/spring/web/static/");
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
	}

	@BeforeEach
	void forget() {
		application.forget();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/api/x", "/%61pi/x", "/api;a=b/x", "/api/x;a=b", "/api/x?q=1", "/api/%78", "/api/x/",
			"//api/x", "/api//x", "/;/api/x", "/x/../api/x", "/./api/x", "/%2e/api/x", "/x/%2e%2e/api/x", "/API/x",
			"/api/files/a.txt", "//api/files/a.txt", "/x/../api/files/a.txt", "/;a/api/files/a.txt",
			"/./api/files/a.txt", "/api/./files/a.txt", "/%2e/api/files/a.txt" })
	void nothingThatIsServedGetsAroundTheLimit(String path) {
		assertNotServedTwice(path);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/exact", "/%65xact", "/exact;a=b", "/exact/", "//exact", "/exact?x", "/EXACT",
			"/x/../exact", "/exact/." })
	void nothingThatIsServedGetsAroundTheLimitOfOnePath(String path) {
		assertNotServedTwice(path);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/servlet", "/servlet/x", "//servlet/x", "/%73ervlet/x", "/servlet;a/x", "/x/../servlet" })
	void nothingThatAnotherServletServesGetsAroundTheLimit(String path) {
		boolean refused = this.container == Container.JETTY && path.startsWith("//");
		assertThat(application.get(path).statusCode()).isEqualTo(refused ? 400 : 200);
		assertThat(application.get(path).statusCode()).isEqualTo(refused ? 400 : 429);
	}

	@Test
	void pathInAnotherServletIsNotThatOfHandler() {
		assertThat(application.get("/api/x").statusCode()).isEqualTo(200);
		assertThat(application.get("/servlet/api/x").statusCode()).isEqualTo(200);
	}

	private static void assertNotServedTwice(String path) {
		HttpResponse<String> first = application.get(path);
		HttpResponse<String> second = application.get(path);
		if (first.statusCode() == 200) {
			assertThat(second.statusCode()).isEqualTo(429);
		}
		else {
			assertThat(second.statusCode()).isIn(400, 404, 429);
		}
	}

	@Test
	void applicationServesWhatTheseTestsAskFor() {
		assertThat(application.get("/api/files/a.txt").body()).isEqualTo("A limited file\n");
		application.forget();
		assertThat(application.get("/api/x").body()).isEqualTo("served");
		assertThat(application.get("/exact").body()).isEqualTo("served");
	}

	@Test
	void differentPathsOfOnePolicyShareCount() {
		assertThat(application.get("/api/x").statusCode()).isEqualTo(200);
		assertThat(application.get("/api/y").statusCode()).isEqualTo(429);
		assertThat(application.get("/free").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "GET, 3", "HEAD, 3", "POST, 2" })
	void methodsHaveCostsOfTheirRoutes(String method, String remaining) {
		HttpResponse<String> response = application.send(method, "/user/1");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().firstValue("X-Rate-Limit-Remaining")).hasValue(remaining);
	}

	@ParameterizedTest
	@CsvSource({ "/spelt/item, 5", "/x/spelt/item, 1", "/./spelt/item, 5" })
	void requestPaysTheDearestOfTheRoutesThatTheFormsOfItsPathTake(String path, long cost) {
		application.get(path);
		application.assertUsed("spelt", cost);
	}

	@Test
	void methodsShareCountWhenTheyAreRoutesOfOnePolicy() {
		assertThat(application.send("POST", "/user/1").statusCode()).isEqualTo(200);
		assertThat(application.send("GET", "/user/1").statusCode()).isEqualTo(200);
		assertThat(application.send("POST", "/user/1").statusCode()).isEqualTo(429);
		assertThat(application.send("GET", "/user/1").statusCode()).isEqualTo(200);
		assertThat(application.send("GET", "/user/1").statusCode()).isEqualTo(429);
	}

	@Test
	void methodIsFreeWhenNoRouteNamesIt() {
		HttpResponse<String> response = application.send("PUT", "/user/1");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().map()).doesNotContainKey("x-rate-limit-remaining");
	}

	@Test
	void preflightIsFree() {
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> preflight = application.send("OPTIONS", "/api/x", "Origin", "https://example.com",
					"Access-Control-Request-Method", "GET");
			assertThat(preflight.statusCode()).isEqualTo(200);
			assertThat(preflight.body()).isEmpty();
			assertThat(preflight.headers().map()).doesNotContainKeys("access-control-allow-origin",
					"x-rate-limit-remaining");
		}
		assertThat(application.decisions()).isZero();
		assertThat(application.get("/api/x").statusCode()).isEqualTo(200);
		assertThat(application.get("/api/x").statusCode()).isEqualTo(429);
	}

	@Test
	void optionsCountWhenTheyAreNoPreflight() {
		assertThat(application.send("OPTIONS", "/api/x").statusCode()).isEqualTo(200);
		assertThat(application.send("OPTIONS", "/api/x").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "/app", "/app/api" })
	void pathsStandBehindContextPath(String contextPath) {
		try (TestApplication other = TestApplication.start(this.container, Application.class,
				"server.servlet.context-path=" + contextPath, "ratelimit.policies.api.paths=/api/**",
				"ratelimit.policies.api.limits=1/m")) {
			assertThat(other.get(contextPath + "/api/x").statusCode()).isEqualTo(200);
			assertThat(other.get(contextPath + "/api/x").statusCode()).isEqualTo(429);
		}
	}

	@Test
	void upperCaseIsLimitedWhenApplicationServesIt() {
		try (TestApplication other = TestApplication.start(this.container, CaseInsensitiveApplication.class,
				"ratelimit.policies.api.paths=/api/**", "ratelimit.policies.api.limits=1/m")) {
			assertThat(other.get("/API/x").statusCode()).isEqualTo(200);
			assertThat(other.get("/API/x").statusCode()).isEqualTo(429);
			assertThat(other.get("/api/x").statusCode()).isEqualTo(429);
		}
	}

	@Test
	void trailingSlashIsLimitedWhenApplicationTakesItAway() {
		try (TestApplication other = TestApplication.start(this.container, TrimmingApplication.class,
				"ratelimit.policies.exact.paths=/exact", "ratelimit.policies.exact.limits=1/m")) {
			assertThat(other.get("/exact/").statusCode()).isEqualTo(200);
			assertThat(other.get("/exact/").statusCode()).isEqualTo(429);
			assertThat(other.get("/exact").statusCode()).isEqualTo(429);
		}
	}

	@ParameterizedTest
	@CsvSource({ "'', /api/**", "'', /app/api/**", "/context, /api/**", "/context, /app/api/**" })
	void pathsBeginWithPathOfDispatcherServletOrBehindIt(String contextPath, String pattern) {
		try (TestApplication other = TestApplication.start(this.container, Application.class,
				"spring.mvc.servlet.path=/app", "server.servlet.context-path=" + contextPath,
				"ratelimit.policies.api.paths=" + pattern, "ratelimit.policies.api.limits=1/m")) {
			for (String path : new String[] { "/app/api/x", "/%61pp/api/x", "/app;a=b/api/x", "/x/../app/api/x",
					"//app/api/x", "/app/%61pi/x", "/app//api/x", "/app/api/x/" }) {
				other.forget();
				assertThat(other.get(contextPath + "/app/api/x").statusCode()).isEqualTo(200);
				assertThat(other.get(contextPath + path).statusCode()).as(path).isIn(400, 404, 429);
			}
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			exclude = { ServletWebSecurityAutoConfiguration.class, UserDetailsServiceAutoConfiguration.class })
	@RestController
	static class Application {

		@GetMapping({ "/api/{x}", "/exact", "/free" })
		String get() {
			return "served";
		}

		@RequestMapping("/user/{id}")
		String user() {
			return "served";
		}

		@Bean
		ServletRegistrationBean<HttpServlet> servlet() {
			return new ServletRegistrationBean<>(new OtherServlet(), "/servlet/*");
		}

	}

	@SuppressWarnings("serial")
	static class OtherServlet extends HttpServlet {

		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) {
			response.setStatus(200);
		}

	}

	static class TrimmingApplication extends Application {

		@Bean
		UrlHandlerFilter urlHandlerFilter() {
			return UrlHandlerFilter.trailingSlashHandler("/**").wrapRequest().build();
		}

	}

	static class CaseInsensitiveApplication extends Application implements WebMvcConfigurer {

		@Override
		public void configurePathMatch(PathMatchConfigurer configurer) {
			PathPatternParser parser = new PathPatternParser();
			parser.setCaseSensitive(false);
			configurer.setPatternParser(parser);
		}

	}

}
