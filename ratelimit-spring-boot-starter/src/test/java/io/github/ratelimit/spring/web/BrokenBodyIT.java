package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Code of an application that identifies requests by their parameters makes the container
 * read bodies, which may be broken. Whether such a request is allowed or denied, it is no
 * fault of the server.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		server.tomcat.max-http-form-post-size: 1KB
		server.jetty.max-http-form-post-size: 1KB
		server.tomcat.max-parameter-count: 50
		ratelimit:
		  policies:
		    closed: { paths: /closed, limits: 0/m, identifiers: [ip, account] }
		    insists: { paths: /insists, limits: 100/m, identifiers: [ip, account], missing-identifier: deny }
		    priced: { paths: /priced, limits: 0/m }
		    told: { paths: /told, limits: 0/m }
		    method: { limits: 0/m, identifiers: [ip, account] }
		""")
@ExtendWith(OutputCaptureExtension.class)
class BrokenBodyIT {

	private static final String FORM = "Content-Type: application/x-www-form-urlencoded\r\n";

	private static final String MULTIPART = "Content-Type: multipart/form-data; boundary=b\r\n";

	private static final String PART = "--b\r\nContent-Disposition: form-data; name=\"account\"\r\n\r\nanna\r\n";

	@Parameter
	TestApplication application;

	@ParameterizedTest(name = "{0}")
	@MethodSource("brokenBodies")
	void deniedRequestIsNoFaultOfServer(String name, String message, CapturedOutput output) throws IOException {
		for (String path : List.of("/closed", "/priced", "/told")) {
			assertThat(send(path, message)).as(path).matches("(HTTP/1.1 4\\d\\d.*)?");
		}
		if (message.startsWith(FORM)) {
			// Before, Spring MVC reads what is no form.
			assertThat(send("/method", message)).matches("(HTTP/1.1 4\\d\\d.*)?");
		}
		// Tomcat does not mind an unknown charset.
		assertThat(send("/insists", message)).matches("(HTTP/1.1 [24]\\d\\d.*)?");
		assertThat(output).doesNotContainPattern(" ERROR \\d+ --- ");
	}

	static Stream<Arguments> brokenBodies() {
		return Stream.of(chunked("size of chunk", "zz\r\naccount=anna\r\n0\r\n\r\n"),
				chunked("end of chunk", "3\r\naccount=anna\r\n0\r\n\r\n"),
				chunked("negative chunk", "-1\r\naccount=anna\r\n0\r\n\r\n"),
				chunked("huge chunk", "f".repeat(17) + "\r\naccount=anna\r\n0\r\n\r\n"),
				chunked("no last chunk", chunk("account=anna")),
				chunked("trailer", chunk("account=anna") + "0\r\n: \u0001\r\n\r\n"),
				chunked("too large in chunks", chunk("account=" + "a".repeat(2000)) + "0\r\n\r\n"),
				body("client is gone", FORM, 100, "account=anna"), body("escape", FORM, 11, "account=%zz"),
				body("bytes", FORM, 11, "account=%ff"), body("many parameters", FORM, 800, "a=1&b=2&".repeat(100)),
				body("too large", FORM, 2008, "account=" + "a".repeat(2000)),
				body("charset", FORM.replace("\r", ";charset=nope\r"), 12, "account=anna"),
				body("no boundary", MULTIPART.replace("; boundary=b", ""), PART.length(), PART),
				body("no end of multipart", MULTIPART, PART.length(), PART),
				body("client is gone in multipart", MULTIPART, 1000, PART), body("no multipart", MULTIPART, 4, "anna"),
				Arguments.of("chunk of multipart",
						MULTIPART + "Transfer-Encoding: chunked\r\n\r\n" + chunk(PART) + "zz\r\n"));
	}

	private static Arguments chunked(String name, String body) {
		return Arguments.of(name, FORM + "Transfer-Encoding: chunked\r\n\r\n" + body);
	}

	private static Arguments body(String name, String type, int length, String body) {
		return Arguments.of(name, type + "Content-Length: " + length + "\r\n\r\n" + body);
	}

	private static String chunk(String text) {
		return Integer.toHexString(text.length()) + "\r\n" + text + "\r\n";
	}

	/** Returns the status line; empty if the server has closed the connection. */
	private String send(String path, String message) throws IOException {
		String request = "POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + message;
		try (Socket socket = this.application.connect()) {
			socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
			socket.shutdownOutput();
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1).lines()
				.findFirst()
				.orElse("");
		}
	}

	@OpenApplication
	@RestController
	static class Application {

		@Bean
		static IdentifierResolver account() {
			return (request) -> request.getParameter("account");
		}

		@PostMapping({ "/closed", "/insists", "/priced", "/told" })
		String path() {
			return "served";
		}

		@PostMapping("/method")
		@RateLimited("method")
		String method() {
			return "served";
		}

		@Bean
		static RequestCost cost() {
			return (request, policy, configured) -> (policy.equals("priced") && request.getParameter("cost") != null)
					? 2 : configured;
		}

		@Bean
		static RejectionHandler rejections() {
			return (rejection, request, response) -> {
				if (request.getRequestURI().equals("/told")) {
					rejection.problem().setDetail(request.getParameter("account"));
				}
			};
		}

	}

}
