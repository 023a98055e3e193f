package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.OpenApplication;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests are identified by their query, and their bodies are left to the handlers.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		ratelimit:
		  identifiers.region: "#query['region']?.toLowerCase()"
		  policies:
		    key: { paths: /key, limits: 1/m, identifiers: "query:key" }
		    body: { paths: /body, limits: 1000/m, identifiers: ["query:key", region] }
		    insists: { paths: /insists, limits: 1000/m, identifiers: "query:key", missing-identifier: deny }
		""")
class QueryIdentifierIT {

	private static final int LARGE = 78_898;

	@Parameter
	TestApplication application;

	/** The handler answers with the parameter that the container has read. */
	@ParameterizedTest
	@CsvSource({ "a", "a+b", "a%20b", "%2B", "%26", "a%3Db", "a=b", "caf%C3%A9", "%E2%82%AC", "%F0%9F%98%80", "%25zz",
			"%C3%A9%41", "a;b", "%00" })
	void valueIsThatOfContainer(String value) {
		String key = this.application.get("/key?other=x&key=" + value + "&key=other").body();
		assertThat(key).isNotEmpty();
		this.application.assertUsed("key", new Identifier("query:key", key), 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?", "?key", "?key=", "?=a", "?Key=a", "?key=%zz", "?key=%", "?key=%4", "?key=%-1",
			"?key=%ff", "?key=%zz&key=a", "?key=&key=a", "?key=%20", "?%zz=a", "?&&&=" })
	void valueIsMissingWhenQueryDoesNotHaveIt(String query) {
		assertThat(this.application.sendRaw("GET /insists" + query)).startsWith("HTTP/1.1 403");
	}

	@ParameterizedTest
	@ValueSource(strings = { "?other=%zz&key=a", "?%zz=%zz&key=a", "?key=a&%", "?&=&&key=a&" })
	void brokenEscapeElsewhereDoesNoHarm(String query) {
		assertThat(this.application.sendRaw("GET /insists" + query)).startsWith("HTTP/1.1 200");
	}

	@Test
	void formFieldIsNoParameterOfQuery() {
		String form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\nkey=a";
		assertThat(this.application.sendRaw("POST /insists", form)).startsWith("HTTP/1.1 403");
	}

	@ParameterizedTest
	@ValueSource(strings = { "application/x-www-form-urlencoded", "application/json", "text/plain",
			"multipart/form-data; boundary=b", "multipart/form-data", "nonsense" })
	void handlerReadsWholeBody(String type) {
		for (int length : new int[] { 27, LARGE }) {
			assertThat(this.application.sendRaw("POST /body?key=a&region=eu", "Content-Type: " + type
					+ "\r\nContent-Length: " + length + "\r\n\r\nkey=b&x=" + "y".repeat(length - 8)))
				.startsWith("HTTP/1.1 200")
				.endsWith("read " + length);
		}
		this.application.assertUsed("body", new Identifier("query:key", "a"), 2);
		this.application.assertUsed("body", new Identifier("region", "eu"), 2);
	}

	@OpenApplication
	@RestController
	static class Application {

		@RequestMapping("/key")
		String key(HttpServletRequest request) {
			return request.getParameter("key");
		}

		@RequestMapping("/insists")
		String get() {
			return "served";
		}

		/** Before Spring MVC, which reads what is no form. */
		@Bean
		ServletRegistrationBean<HttpServlet> reader() {
			return new ServletRegistrationBean<>(new HttpServlet() {

				@Override
				protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
					response.getWriter().print("read " + request.getInputStream().readAllBytes().length);
				}

			}, "/body");
		}

	}

}
