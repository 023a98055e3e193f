package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.spring.OpenApplication;
import org.eclipse.jetty.ee11.servlet.ServletHandler;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.jetty.servlet.JettyServletWebServerFactory;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Spellings of a limited file: whenever one of them reaches the file, the limiter has
 * counted it, whatever the container lets through.
 */
class StaticSpellingIT {

	private static final List<String> SPELLINGS = List.of("/api/file.txt", "/api%2ffile.txt", "/api%2Ffile.txt",
			"/api//file.txt", "//api/file.txt", "/api\\file.txt", "/api%5cfile.txt", "/api%5Cfile.txt",
			"/other/../api/file.txt", "/other%2f..%2fapi/file.txt", "/api/%2e/file.txt", "/api;a=b/file.txt",
			"/api%2f%2ffile.txt", "%2fapi/file.txt", "/%2fapi/file.txt", "/%2f/api%2ffile.txt", "/\\api/file.txt",
			"/%5capi%5cfile.txt", "/ap%69%2ffile.txt", "/api%2f./file.txt", "/api%2f%2e/file.txt");

	@ParameterizedTest
	@ValueSource(classes = { Decoding.class, Passing.class, OnJetty.class })
	void noSpellingThatReachesTheFileGetsAroundTheLimit(Class<?> configuration) throws IOException {
		List<String> free = new ArrayList<>();
		int reached = 0;
		try (TestApplication application = TestApplication.start(configuration,
				"spring.web.resources.static-locations=classpath:/io/github/ratelimit/spring/web/static/",
				"ratelimit.policies.files.paths=/api/**", "ratelimit.policies.files.limits=1000/d")) {
			for (String spelling : SPELLINGS) {
				application.forget();
				if (get(application.port(), spelling).contains("the limited file")) {
					reached++;
					if (application.decisions() == 0) {
						free.add(spelling);
					}
				}
			}
		}
		assertThat(free).isEmpty();
		assertThat(reached).isGreaterThan(3);
	}

	private static String get(int port, String path) throws IOException {
		try (Socket socket = new Socket("127.0.0.1", port)) {
			socket.getOutputStream()
				.write("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".formatted(path)
					.getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	@OpenApplication
	static class Files {

	}

	static class Decoding extends Files {

		@Bean
		TomcatServletWebServerFactory server() {
			return tomcat("decode");
		}

	}

	static class Passing extends Files {

		@Bean
		TomcatServletWebServerFactory server() {
			return tomcat("passthrough");
		}

	}

	private static TomcatServletWebServerFactory tomcat(String slashes) {
		TomcatServletWebServerFactory factory = new TomcatServletWebServerFactory();
		factory.addConnectorCustomizers((connector) -> {
			connector.setProperty("relaxedPathChars", "\\");
			connector.setProperty("allowBackslash", "true");
			connector.setEncodedSolidusHandling(slashes);
			connector.setEncodedReverseSolidusHandling(slashes);
		});
		return factory;
	}

	static class OnJetty extends Files {

		@Bean
		JettyServletWebServerFactory server() {
			JettyServletWebServerFactory factory = new JettyServletWebServerFactory();
			factory.addServerCustomizers((server) -> {
				for (var connector : server.getConnectors()) {
					connector.getConnectionFactory(HttpConnectionFactory.class)
						.getHttpConfiguration()
						.setUriCompliance(UriCompliance.UNSAFE);
				}
				server.getDescendants(ServletHandler.class).forEach((handler) -> handler.setDecodeAmbiguousURIs(true));
			});
			return factory;
		}

	}

}
