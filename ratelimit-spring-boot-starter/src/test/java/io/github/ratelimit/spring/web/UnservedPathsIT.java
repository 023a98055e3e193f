package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import io.github.ratelimit.spring.OpenApplication;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The log tells of paths that nothing serves, most of which are misspelt.
 */
@ParameterizedClass
@EnumSource(Container.class)
@ExtendWith(OutputCaptureExtension.class)
class UnservedPathsIT {

	private static final Pattern TOLD = Pattern.compile("(\\S+) of ratelimit\\.policies\\.all \\(([^)]*)\\)");

	private static final String NEAREST = "the nearest is ";

	@Parameter
	Container container;

	@Test
	void nothingIsToldOfPathsThatAreServed(CapturedOutput output) {
		assertThat(told(output, Application.class, "/**", "/*", "/{first}/search", "/api/**", "/api/search",
				"/api/search/", "/api/search/**", "/api/s*", "POST /api/search", "/users/7", "/users/*", "/Files/list",
				"/console/a/b", "/console", "/api/file.txt", "/api/files/**", "/*.txt", "/actuator/health", "/error",
				"/{*rest}"))
			.isEmpty();
	}

	@Test
	void nothingIsToldWhenRouterFunctionsMayServeAnyPath(CapturedOutput output) {
		assertThat(told(output, RoutingApplication.class, "/apis/**")).isEmpty();
	}

	/** If filters may answer other paths, only those that are misspelt are told. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void nearestPathIsToldOfUnservedPath(boolean filtered, CapturedOutput output) {
		Map<String, String> told = new LinkedHashMap<>(Map.of("/apis/**", "/api/search", "/Api/**", "/api/search",
				"/api/serach", "/api/search", "/consoles/**", "/console/**"));
		List<String> paths = new ArrayList<>(told.keySet());
		Map<String, String> other = Map.of("/v2/**", "/api/search", "/Files/list?x", "/Files/list", "/api/search/more",
				"/api/search", "/users/anna", "/users/{id:[0-9]+}", "/api/none.txt", "/api/search");
		paths.addAll(other.keySet());
		if (filtered) {
			paths.addAll(List.of("/login", "/oauth2/**", "/api/token", "/wp-admin/**"));
		}
		else {
			told.putAll(other);
		}
		assertThat(told(output, filtered ? FilteredApplication.class : Application.class, paths.toArray(String[]::new)))
			.containsExactlyInAnyOrderElementsOf(
					told.entrySet().stream().map((path) -> path.getKey() + " " + NEAREST + path.getValue()).toList());
	}

	@Test
	void contextPathIsToldWhenPathHasIt(CapturedOutput output) {
		assertThat(told(output, Application.class, "/shop/api/**", "/api/**", "/apis",
				"server.servlet.context-path=/shop"))
			.containsExactly("/shop/api/** the context path is not part of it: /api/**",
					"/apis " + NEAREST + "/api/search");
	}

	/** Jetty has a servlet for all other paths. */
	@Test
	void pathOfServletMayBePartOfPath(CapturedOutput output) {
		TestApplication
			.start(Container.TOMCAT, Application.class, "spring.mvc.servlet.path=/web",
					"ratelimit.policies.all.limits=9/m",
					"ratelimit.policies.all.paths=/api/**,/web/api/search,/web/apis/**,/webs/api")
			.close();
		assertThat(told(output)).containsExactly("/web/apis/** " + NEAREST + "/web/api/search",
				"/webs/api " + NEAREST + "/web/api/search");
	}

	@Test
	void nothingIsToldOfPathsThatAreClosedOrPunished(CapturedOutput output) {
		start(Application.class, "/v2/**", "ratelimit.policies.all.limits=0/s", "ratelimit.policies.trap.limits=1/h",
				"ratelimit.policies.trap.paths=/wp-admin/**", "ratelimit.policies.trap.penalty.after=1",
				"ratelimit.policies.trap.penalty.within=1h", "ratelimit.policies.trap.penalty.block=1h")
			.close();
		assertThat(output).doesNotContain("so that they limit nothing");
	}

	private List<String> told(CapturedOutput output, Class<?> configuration, String... paths) {
		start(configuration, paths).close();
		return told(output);
	}

	private static List<String> told(CapturedOutput output) {
		return TOLD.matcher(output.toString()).results().map((found) -> found.group(1) + " " + found.group(2)).toList();
	}

	/** Limits paths; what is no path is a property. */
	private TestApplication start(Class<?> configuration, String... paths) {
		List<String> properties = new ArrayList<>(List.of("ratelimit.policies.all.limits=9/m",
				"spring.web.resources.static-locations=classpath:/io/github/ratelimit/spring/web/static/"));
		int count = 0;
		for (String path : paths) {
			properties.add(path.contains("/") && !path.startsWith("r") && !path.startsWith("s")
					? "ratelimit.policies.all.paths[" + count++ + "]=" + path : path);
		}
		return TestApplication.start(this.container, configuration, properties.toArray(String[]::new));
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/api/search")
		String search() {
			return "found";
		}

		@GetMapping("/users/{id:[0-9]+}")
		String user() {
			return "anna";
		}

		@GetMapping("/Files/list")
		String files() {
			return "none";
		}

		@Bean
		ServletRegistrationBean<HttpServlet> console() {
			return new ServletRegistrationBean<>(new HttpServlet() {
			}, "/console/*");
		}

	}

	static class RoutingApplication extends Application {

		@Bean
		RouterFunction<ServerResponse> orders() {
			return RouterFunctions.route().GET("/orders", (request) -> ServerResponse.ok().build()).build();
		}

	}

	static class FilteredApplication extends Application {

		@GetMapping({ "/logins", "/oauth", "/api/tokens" })
		String logins() {
			return "none";
		}

		@Bean
		Filter gate() {
			return (request, response, chain) -> chain.doFilter(request, response);
		}

	}

}
