package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;

import io.github.ratelimit.spring.OpenApplication;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which requests the policies of paths limit. {@link PathSpellingIT} shows that no
 * spelling gets around them.
 */
@StartApplication("""
		spring.mvc.hiddenmethod.filter.enabled: true
		ratelimit.policies:
		  api: { paths: /api/**, limits: 1/m }
		  user: { routes: [{ paths: GET /user/**, cost: 1 }, { paths: POST /user/**, cost: 2 }], limits: 4/m }
		  spelt: { routes: [{ paths: /spelt/item, cost: 5 }, { paths: /*/spelt/* }], limits: 9/m }
		""")
class RateLimitPathIT {

	@Parameter
	TestApplication application;

	@Test
	void pathInAnotherServletIsNotThatOfHandler() {
		assertThat(this.application.statuses(2, "/servlet/api/x")).containsOnly(200);
	}

	@Test
	void differentPathsOfOnePolicyShareCount() {
		assertThat(this.application.get("/api/x").statusCode()).isEqualTo(200);
		assertThat(this.application.get("/api/y").statusCode()).isEqualTo(429);
		assertThat(this.application.get("/free").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "GET, 3", "HEAD, 3", "POST, 2", "PUT, " })
	void methodsHaveCostsOfTheirRoutes(String method, @Nullable String remaining) {
		HttpResponse<String> response = this.application.send(method, "/user/1");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().firstValue("X-Rate-Limit-Remaining").orElse(null)).isEqualTo(remaining);
	}

	@ParameterizedTest
	@CsvSource({ "/spelt/item, 5", "/x/spelt/item, 1", "/./spelt/item, 5" })
	void requestPaysTheDearestRouteOfItsForms(String path, long cost) {
		this.application.get(path);
		this.application.assertUsed("spelt", cost);
	}

	@Test
	void methodsShareCountWhenTheyAreRoutesOfOnePolicy() {
		assertThat(this.application.send("POST", "/user/1").statusCode()).isEqualTo(200);
		assertThat(this.application.get("/user/1").statusCode()).isEqualTo(200);
		assertThat(this.application.send("POST", "/user/1").statusCode()).isEqualTo(429);
		assertThat(this.application.statuses(2, "/user/1")).containsExactly(200, 429);
	}

	/** A filter that comes early says which method a request has. */
	@Test
	void overriddenMethodIsThatOfTheRequest() {
		HttpResponse<String> response = this.application.send("POST", "/user/1?_method=PUT");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(this.application.decisions()).isZero();
	}

	@Test
	void optionsCountWhenTheyAreNoPreflight() {
		assertThat(this.application.send("OPTIONS", "/api/x").statusCode()).isEqualTo(200);
		assertThat(this.application.send("OPTIONS", "/api/x").statusCode()).isEqualTo(429);
	}

	@ParameterizedTest
	@CsvSource({ "/app/api, '', /api/**", "'', /app, /app/api/**", "/context, /app, /api/**" })
	void pathsStandBehindContextPathAndServletPath(String context, String servlet, String pattern) {
		try (TestApplication other = TestApplication.start(Application.class, "server.servlet.context-path=" + context,
				"spring.mvc.servlet.path=" + (servlet.isEmpty() ? "/" : servlet),
				"ratelimit.policies.api: { paths: '%s', limits: 1/m }".formatted(pattern))) {
			assertThat(other.statuses(2, context + servlet + "/api/x")).containsExactly(200, 429);
		}
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping({ "/api/{x}", "/free" })
		String get() {
			return "served";
		}

		@RequestMapping("/user/{id}")
		String user() {
			return "served";
		}

		@Bean
		ServletRegistrationBean<HttpServlet> servlet() {
			return new ServletRegistrationBean<>(new HttpServlet() {

				@Override
				protected void doGet(HttpServletRequest request, HttpServletResponse response) {
					response.setStatus(200);
				}

			}, "/servlet/*");
		}

	}

}
