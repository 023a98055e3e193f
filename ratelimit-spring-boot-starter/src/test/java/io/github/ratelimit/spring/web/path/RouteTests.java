package io.github.ratelimit.spring.web.path;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link Route}.
 */
class RouteTests {

	@ParameterizedTest
	@CsvSource({ "/api/**, GET, /api, true", "/api/**, DELETE, /api/x/y, true", "/api/**, GET, /apis, false",
			"/api/*, GET, /api/x/y, false", "/api/{id}, GET, /api/1, true", "GET /api, GET, /api, true",
			"GET /api, HEAD, /api, true", "GET /api, POST, /api, false", "HEAD /api, GET, /api, false",
			"POST /api, HEAD, /api, false", "/api, GET, /api;a=b, true", "/api, GET, /%61pi, true",
			"/api, GET, /API, false", "/**, GET, /, true", "/{name:[.].*}, GET, /.env, true",
			"/{name:[.].*}, GET, /env, false", "/{name:[.].*}, GET, /.git/config, false",
			"'  POST   /api/** ', POST, /api/x, true", "'  POST   /api/** ', GET, /api/x, false" })
	void requestMatches(String route, String method, String path, boolean expected) {
		assertThat(parse(route).matches(method, PathContainer.parsePath(path))).isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource(delimiterString = " => ", quoteCharacter = '`',
			textBlock = """
					`` => must be a pattern such as /api/** or GET /user/**.
					api => must be a pattern such as /api/** or GET /user/**.
					GET => must be a pattern such as /api/** or GET /user/**.
					GET api => must be a pattern such as /api/** or GET /user/**.
					GET POST /api => must be a pattern such as /api/** or GET /user/**.
					/api GET => must be a pattern such as /api/** or GET /user/**.
					FETCH /api => FETCH is no HTTP method.
					get /api => get is no HTTP method.
					/.* => must be /** for all paths, or /{name:[.].*} for names that begin with a point.
					GET /.* => must be /** for all paths, or /{name:[.].*} for names that begin with a point.
					/a?b=1&c=2 => must be /a, because the query is not part of the path. The identifier query:b counts by a parameter.
					/api/*.json?x => must be /api/*.json, because the query is not part of the path. The identifier query:NAME counts by a parameter.
					/{id:[0-9]+}?max-rows=1 => must be /{id:[0-9]+}, because the query is not part of the path. The identifier query:max-rows counts by a parameter.
					""")
	void textIsRejectedWhenItIsNoRoute(String text, String rule) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(text))
			.withMessage("Invalid path (%s): %s", text, rule);
	}

	@ParameterizedTest
	@CsvSource(delimiterString = " => ", quoteCharacter = '`', textBlock = """
			/api/.* => /api/**
			GET /api/.* => /api/**
			^/api/.*$ => /api/**
			^/api(/.*)?$ => /api/**
			/api/.+ => /api/**
			/api/(.*) => /api/**
			/api/.+/orders => /api/*/orders
			/.+ => /**
			/.*/orders => /*/orders
			^/.*$ => /**
			/files/(?:a)+ => /files/{part2:(?:a)+}
			/api/(v.*) => /api/{part2:v.*}
			/users/[0-9]+ => /users/{part2:[0-9]+}
			/users/[^/]+/orders => /users/*/orders
			/files/(a|b) => /files/{part2:a|b}
			/files/(a|b)c => /files/{part2:(?:a|b)c}
			/users/\\d+ => /users/{part2:\\d+}
			/users/(\\w+)/x => /users/{part2:\\w+}/x
			/users$ => /users
			""")
	void patternIsProposedWhenTextIsRegularExpression(String regex, String pattern) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse(regex))
			.withMessageStartingWith("Invalid path (%s): must be a path pattern, not a regular expression: %s. ", regex,
					pattern);
		assertThat(parse(pattern).pattern()).isNotNull();
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
