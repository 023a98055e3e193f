package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.StarterRunners;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
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
 * What the log tells of policies that limit nothing, because nothing serves their paths,
 * most of which are misspelt, or because nothing has their identifiers; and of those that
 * limit probes of the application's health.
 */
@ExtendWith(OutputCaptureExtension.class)
class PolicyWarningsIT {

	private static final Pattern UNSERVED = Pattern.compile("(\\S+) of ratelimit\\.policies\\.all \\(([^)]*)\\)");

	private static final String NEAREST = " the nearest is ";

	private static final Pattern UNCOUNTED_LOGINS = Pattern.compile(
			"The policy '(.*)' does not count what Spring Security or another filter answers with 401, because there is no user yet. (.*)");

	private static final String PROBES = "Policies limit probes of the application's health";

	private final WebApplicationContextRunner runner = StarterRunners.web()
		.withConfiguration(AutoConfigurations.of(EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				HealthContributorAutoConfiguration.class, HealthContributorRegistryAutoConfiguration.class,
				HealthEndpointAutoConfiguration.class, AvailabilityProbesAutoConfiguration.class,
				ApplicationAvailabilityAutoConfiguration.class))
		.withPropertyValues("ratelimit.policies.all.limits=5/m");

	/**
	 * If filters may answer other paths, only those that are misspelt are told. Nothing
	 * is told of paths that are closed or punished.
	 */
	@ParameterizedTest
	@CsvSource({ "TOMCAT, false", "TOMCAT, true", "JETTY, false", "JETTY, true" })
	void nearestPathIsToldOfUnservedPath(Container container, boolean filtered, CapturedOutput output) {
		Map<String, String> told = new LinkedHashMap<>(Map.of("/apis/**", "/api/search", "/Api/**", "/api/search",
				"/api/serach", "/api/search", "/consoles/**", "/console/**"));
		Map<String, String> other = Map.of("/v2/**", "/api/search", "/Files/list?x", "/Files/list", "/api/search/more",
				"/api/search", "/users/anna", "/users/{id:[0-9]+}", "/api/none.txt", "/api/search");
		List<String> served = List.of("/**", "/*", "/{first}/search", "/api/**", "/api/search", "/api/search/",
				"/api/search/**", "/api/s*", "POST /api/search", "/users/7", "/users/*", "/Files/list", "/console/a/b",
				"/console", "/api/file.txt", "/api/files/**", "/*.txt", "/actuator/health", "/error", "/{*rest}");
		List<String> paths = Stream.of(told.keySet(), other.keySet(), served).flatMap(Collection::stream).toList();
		List<String> guessed = List.of("/login", "/oauth2/**", "/api/token", "/wp-admin/**");
		if (!filtered) {
			told.putAll(other);
		}
		assertThat(told(output, container, filtered ? FilteredApplication.class : Application.class, """
				ratelimit.policies.closed: { paths: /v3/**, limits: 0/s }
				ratelimit.policies.trap: { paths: /wp-admin/**, limits: 1/h,
				  penalty: { after: 1, within: 1h, block: 1h } }
				ratelimit.policies.off: { paths: /apis/**, limits: 1/s, enabled: false }
				""", Stream.concat(paths.stream(), filtered ? guessed.stream() : Stream.empty()).toList()))
			.containsExactlyInAnyOrderElementsOf(
					told.entrySet().stream().map((path) -> path.getKey() + NEAREST + path.getValue()).toList());
		assertThat(output).doesNotContain("policies.closed", "policies.trap", "policies.off");
	}

	@ParameterizedTest
	@EnumSource
	void nothingIsToldWhenRouterFunctionsMayServeAnyPath(Container container, CapturedOutput output) {
		assertThat(told(output, container, RoutingApplication.class, "", List.of("/apis/**"))).isEmpty();
	}

	/** Jetty has a servlet for all other paths than that of Spring MVC. */
	@ParameterizedTest
	@CsvSource({ "TOMCAT, server.servlet.context-path: /shop", "JETTY, server.servlet.context-path: /shop",
			"TOMCAT, spring.mvc.servlet.path: /web" })
	void contextPathIsToldAndServletPathIsPartOfPath(Container container, String property, CapturedOutput output) {
		if (property.endsWith("/shop")) {
			assertThat(
					told(output, container, Application.class, property, List.of("/shop/api/**", "/api/**", "/apis")))
				.containsExactly("/shop/api/** the context path is not part of it: /api/**",
						"/apis" + NEAREST + "/api/search");
		}
		else {
			assertThat(told(output, container, Application.class, property,
					List.of("/api/**", "/web/api/search", "/web/apis/**", "/webs/api")))
				.containsExactly("/web/apis/**" + NEAREST + "/web/api/search",
						"/webs/api" + NEAREST + "/web/api/search");
		}
	}

	private static List<String> told(CapturedOutput output, Container container, Class<?> configuration, String yaml,
			List<String> paths) {
		List<String> properties = new ArrayList<>(List.of(yaml, "ratelimit.policies.all.limits=9/m",
				"spring.web.resources.static-locations=classpath:/io/github/ratelimit/spring/web/static/"));
		for (int i = 0; i < paths.size(); i++) {
			properties.add("ratelimit.policies.all.paths[" + i + "]=" + paths.get(i));
		}
		TestApplication.start(container, configuration, properties.toArray(String[]::new)).close();
		return UNSERVED.matcher(output.toString())
			.results()
			.map((found) -> found.group(1) + " " + found.group(2))
			.toList();
	}

	/** What refuses a login answers before there is a user. */
	@Test
	void startTellsOfPoliciesThatCountNoFailedLogins(CapturedOutput output) {
		TestApplication.start(Container.TOMCAT, TestApplication.Served.class, """
				ratelimit:
				  plan: "'pro'"
				  policies:
				    user: &user { paths: /api, limits: 3/m, identifiers: user, count-when: 'status in [ 401 ]' }
				    planned: { <<: *user, identifiers: ip, plans.pro.limits: 9/m }
				    both: { <<: *user, identifiers: [ip, user] }
				    forbidden: { <<: *user, count-when: 'status in [401, 403]' }
				    keyed: { <<: *user, identifiers: 'header:X' }
				""").close();
		assertThat(UNCOUNTED_LOGINS.matcher(output.toString()).results())
			.extracting((found) -> found.group(1) + ": " + found.group(2))
			.containsExactlyInAnyOrder("user: Add ip to ratelimit.policies.user.identifiers",
					"planned: Count that by a second policy, which has no plans");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					paths=/**                                                      | true
					paths=GET /actuator/**                                         | true
					paths=/*/health/liveness                                       | true
					paths=/manage/**;management.endpoints.web.base-path=/manage    | true
					paths=/**;ratelimit.exclude=/actuator/health                   | true
					paths=/livez;management.server.port=9000;management.endpoint.health.probes.add-additional-paths=true | true
					paths=/api/**                                                  | false
					paths=POST /**                                                 | false
					paths=/**;ratelimit.exclude=/actuator/health/**                | false
					paths=/**;ratelimit.policies.all.exclude=/actuator/**          | false
					paths=/**;management.server.port=9000                          | false
					paths=/**;management.server.port=-1                            | false
					paths=/**;management.endpoints.web.exposure.exclude=health     | false
					paths=/**;ratelimit.policies.all.mode=shadow                   | false
					paths=/**;ratelimit.policies.all.routes[0].paths=/actuator/**;ratelimit.policies.all.routes[0].cost=0 | false
					""")
	void probesThatMayBeDeniedAreLoggedWithRemedies(String properties, boolean logged, CapturedOutput output) {
		this.runner.withPropertyValues(("ratelimit.policies.all." + properties).split(";"))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output.toString().contains(PROBES)).isEqualTo(logged);
		if (properties.equals("paths=/**")) {
			assertThat(output).containsOnlyOnce(PROBES)
				.contains("{all=[/actuator/health, /actuator/health/liveness, /actuator/health/readiness]}")
				.containsOnlyOnce("ratelimit.exclude")
				.containsOnlyOnce("management.server.port");
		}
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping({ "/api/search", "/users/{id:[0-9]+}", "/Files/list" })
		String serve() {
			return "served";
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
