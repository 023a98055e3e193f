package io.github.ratelimit.spring.web;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.mock.web.MockHttpServletRequest;
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
		assertThat(parse(route).matches(new MockHttpServletRequest(method, path), PathContainer.parsePath(path)))
			.isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "api", "GET", "GET api", "GET POST /api", "/api GET" })
	void textIsRejectedWhenItIsNoRoute(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(text))
			.withMessage("Invalid path (%s): must be a pattern such as /api/** or GET /user/**.", text);
	}

	@ParameterizedTest
	@ValueSource(strings = { "FETCH", "get", "Post" })
	void textIsRejectedWhenMethodIsUnknown(String method) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(method + " /api"))
			.withMessage("Invalid path (%s /api): %s is no HTTP method.", method, method);
	}

	@ParameterizedTest
	@CsvSource({ "/api/health, /api/**, true", "/api/**, /api/health, true", "/api/*, /*/health, true",
			"/health, /api/**, false", "/api/health/, /api/health, false", "/api/health, /api/*/more, false",
			"/api, /api/**, true", "/{x}/b, /a/{*rest}, true", "/a/b*, /a/c, true", "/API/x, /api/**, true",
			"/%61pi/x, /api/**, true", "GET /api, POST /api, false", "GET /api, HEAD /api, true",
			"HEAD /api, GET /api, true", "/api, POST /api, true", "/a/b, /a, false", "/, /**, true" })
	void routesMayMeet(String one, String other, boolean expected) {
		assertThat(parse(one).mayMeet(parse(other))).isEqualTo(expected);
		assertThat(parse(other).mayMeet(parse(one))).isEqualTo(expected);
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
