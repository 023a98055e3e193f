package io.github.ratelimit.spring.web.path;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link Route}.
 */
class RouteTests {

	@Test
	void routeHasMethodAndPatternAndCost() {
		Route route = parse("  POST   /user/** ");
		assertThat(route.method()).isEqualTo(HttpMethod.POST);
		assertThat(route.pattern().getPatternString()).isEqualTo("/user/**");
		assertThat(route.cost()).isEqualTo(2);
	}

	@ParameterizedTest
	@CsvSource({ "/api/**, GET, /api, true", "/api/**, DELETE, /api/x/y, true", "/api/**, GET, /apis, false",
			"/api/*, GET, /api/x/y, false", "/api/{id}, GET, /api/1, true", "GET /api, GET, /api, true",
			"GET /api, HEAD, /api, true", "GET /api, POST, /api, false", "HEAD /api, GET, /api, false",
			"POST /api, HEAD, /api, false", "/api, GET, /api;a=b, true", "/api, GET, /%61pi, true",
			"/api, GET, /API, false", "/**, GET, /, true" })
	void requestMatches(String route, String method, String path, boolean expected) {
		assertThat(parse(route).matches(method, PathContainer.parsePath(path))).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "api", "GET", "GET api", "GET POST /api", "/api GET" })
	void textIsRejectedWhenItIsNoRoute(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(text))
			.withMessage("Invalid path (%s): must be a pattern such as /api/** or GET /user/**.", text);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/.*", "GET /.*", "/api/.*", "GET /api/.*", "^/api/.*$", "^/api(/.*)?$", "/api/.+",
			"/api/(.*)", "/api/.+/orders", "/.+", "/.*/orders", "/files/(?:a)+", "/api/(v.*)", "/users/[0-9]+",
			"/files/(a|b)", "/users/\\d+", "/users$" })
	void textIsRejectedWhenItIsRegularExpression(String regex) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(regex))
			.withMessageStartingWith("Invalid path (%s): must be no regular expression: /** is for all paths, ", regex);
		assertThat(List.of("/.env", "/env", "/.git/config"))
			.filteredOn((path) -> parse("/{name:[.].*}").matches("GET", PathContainer.parsePath(path)))
			.containsExactly("/.env");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/api/search?q=*", "/a?b=1&c=2", "/a?x&y", "/api/*.json?x", "/{id:[0-9]+}?max-rows=1" })
	void textIsRejectedWhenItHasQuery(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(text))
			.withMessage("Invalid path (%s): must be a path without a query; "
					+ "the identifier query:NAME counts by a parameter.", text);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/**", "/api/{id:[0-9]+}", "/{name:(?:a|b).*}", "/{code:[A-Z]{2}}/x", "/file.*", "/*.*",
			"/v1.*/x", "/t?st", "/img-??.png", "/*.jp?g", "/odata/$metadata", "/Foo_(bar)", "/a+b", "/.well-known/**",
			"/{*rest}", "/a;b=c", "/%7Eme", "/a.b.c", "/users/?", "/odata/v4/Books(*)", "/odata/Books(*)/**",
			"/odata/Books(?)/author", "/odata/Books(id=*,lang=*)", "/{name:[.].*}", "/.*/**" })
	void patternIsNoRegularExpression(String pattern) {
		assertThat(parse(pattern).text()).isEqualTo(pattern);
	}

	@ParameterizedTest
	@ValueSource(strings = { "FETCH", "get", "Post" })
	void textIsRejectedWhenMethodIsUnknown(String method) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(method + " /api"))
			.withMessage("Invalid path (%s /api): %s is no HTTP method.", method, method);
	}

	@ParameterizedTest
	@CsvSource({ "/api/**, /api/health, true", "/api/**, /api/**, true", "/**, GET /api/*, true",
			"GET /**, /api, false", "GET /**, GET /api, true", "/api/health, /api/**, false", "/api/*, /api/x, false",
			"/api/{*rest}, /api/x/y, true", "/api/x, /api/x, true", "/api/x/y, /api/x, false" })
	void routeCoversAnother(String one, String other, boolean expected) {
		assertThat(parse(one).covers(parse(other))).isEqualTo(expected);
	}

	private static Route parse(String text) {
		return Route.parse(text, 2, PathPatternParser.defaultInstance);
	}

}
