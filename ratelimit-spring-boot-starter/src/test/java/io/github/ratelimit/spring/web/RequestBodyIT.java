package io.github.ratelimit.spring.web;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.RejectionHandler;
import io.github.ratelimit.spring.annotation.RateLimited;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests with bodies: the limiter reads their queries alone, and denies them before
 * their bodies are read. Code of an application that identifies requests by their
 * parameters makes the container read bodies, which may be broken: that is no fault of
 * the server.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY }, value = """
		server.tomcat.max-http-form-post-size: 1KB
		server.jetty.max-http-form-post-size: 1KB
		server.tomcat.max-parameter-count: 50
		ratelimit:
		  identifiers.region: "#query['region']?.toLowerCase()"
		  policies:
		    closed: { paths: /closed, limits: 0/m, identifiers: [ip, account] }
		    account: { paths: /account, limits: 100/m, identifiers: [ip, account], missing-identifier: deny }
		    priced: { paths: /priced, limits: 0/m }
		    told: { paths: /told, limits: 0/m }
		    method: { limits: 0/m, identifiers: [ip, account] }
		    key: { paths: /key, limits: 1/m, identifiers: "query:key" }
		    body: { paths: /body, limits: 1000/m, identifiers: ["query:key", region] }
		    insists: { paths: /insists, limits: 1000/m, identifiers: "query:key", missing-identifier: deny }
		    uploads: { paths: /upload, limits: 1/h }
		""")
class RequestBodyIT extends WithApplication {

	private static final String FORM = "Content-Type: application/x-www-form-urlencoded\r\n";

	private static final String MULTIPART = "Content-Type: multipart/form-data; boundary=b\r\n";

	private static final String PART = "--b\r\nContent-Disposition: form-data; name=\"account\"\r\n\r\nanna\r\n";

	private static final int UPLOADS = 20;

	/** Tomcat reads a little more of a denied request. */
	private static final byte[] BODY = new byte[2_000_000];

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
		assertThat(send("/account", message)).matches("(HTTP/1.1 [24]\\d\\d.*)?");
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
		try (Socket socket = post(path, "Connection: close\r\n" + message)) {
			socket.shutdownOutput();
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1).lines()
				.findFirst()
				.orElse("");
		}
	}

	private Socket post(String path, String message) throws IOException {
		Socket socket = this.application.connect();
		socket.getOutputStream()
			.write(("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + message).getBytes(StandardCharsets.ISO_8859_1));
		return socket;
	}

	/** The handler answers with the parameter that the container has read. */
	@ParameterizedTest
	@CsvSource({ "a", "a+b", "a%20b", "%2B", "%26", "a%3Db", "a=b", "caf%C3%A9", "%E2%82%AC", "%F0%9F%98%80", "%25zz",
			"%C3%A9%41", "a;b", "%00" })
	void valueOfQueryIsThatOfContainer(String value) {
		String key = this.application.get("/key?other=x&key=" + value + "&key=other").body();
		assertThat(key).isNotEmpty();
		this.application.assertUsed("key", new Identifier("query:key", key), 1);
	}

	/** A broken escape elsewhere does no harm. */
	@ParameterizedTest
	@CsvSource({ "'', 403", "?, 403", "?key, 403", "?key=, 403", "?=a, 403", "?Key=a, 403", "?key=%zz, 403",
			"?key=%, 403", "?key=%4, 403", "?key=%-1, 403", "?key=%ff, 403", "?key=%zz&key=a, 403", "?key=&key=a, 403",
			"?key=%20, 403", "?%zz=a, 403", "?&&&=, 403", "?other=%zz&key=a, 200", "?%zz=%zz&key=a, 200",
			"?key=a&%, 200", "?&=&&key=a&, 200" })
	void valueIsMissingWhenQueryDoesNotHaveIt(String query, int status) {
		assertThat(this.application.sendRaw("GET /insists" + query)).startsWith("HTTP/1.1 " + status);
	}

	@Test
	void formFieldIsNoParameterOfQuery() {
		assertThat(this.application.sendRaw("POST /insists", FORM + "Content-Length: 5\r\n\r\nkey=a"))
			.startsWith("HTTP/1.1 403");
	}

	@ParameterizedTest
	@ValueSource(strings = { "application/x-www-form-urlencoded", "application/json", "text/plain",
			"multipart/form-data; boundary=b", "multipart/form-data", "nonsense" })
	void handlerReadsWholeBody(String type) {
		for (int length : new int[] { 27, 78_898 }) {
			assertThat(this.application.sendRaw("POST /body?key=a&region=eu", "Content-Type: " + type
					+ "\r\nContent-Length: " + length + "\r\n\r\nkey=b&x=" + "y".repeat(length - 8)))
				.startsWith("HTTP/1.1 200")
				.endsWith("read " + length);
		}
		this.application.assertUsed("body", new Identifier("query:key", "a"), 2);
		this.application.assertUsed("body", new Identifier("region", "eu"), 2);
	}

	/**
	 * Or a denied client would hold a thread as long as it sends slowly. Tomcat would not
	 * read the rest, and says that the connection ends. To a client that asks, it says
	 * that it may go on before any filter runs.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "Content-Length: 100000000", "Transfer-Encoding: chunked",
			"Content-Length: 100000000\r\nExpect: 100-continue" })
	void denialIsCompleteBeforeAnythingOfUploadIsRead(String headers) throws IOException {
		this.application.get("/upload");
		boolean asks = headers.contains("Expect");
		boolean tomcat = this.application.container() == Container.TOMCAT;
		try (Socket socket = post("/upload", headers + "\r\n\r\n")) {
			Scanner heads = new Scanner(socket.getInputStream(), StandardCharsets.US_ASCII).useDelimiter("\r\n\r\n");
			if (tomcat && asks) {
				assertThat(heads.next()).startsWith("HTTP/1.1 100");
			}
			String head = heads.next();
			assertThat(head).startsWith("HTTP/1.1 429").contains("Retry-After: 3600");
			if (headers.contains("Length") && (tomcat || asks)) {
				assertThat(head).contains("Connection: close");
			}
		}
	}

	/** Jetty closes the connection, so that a client may lose the answer. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void clientThatWritesAllFirstSeesDenialOnTomcat(boolean chunked) {
		this.application.get("/upload");
		for (int i = 0; i < UPLOADS; i++) {
			BodyPublisher body = chunked ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(BODY))
					: BodyPublishers.ofByteArray(BODY);
			try {
				assertThat(this.application.send("POST", "/upload", body).statusCode()).isEqualTo(429);
			}
			catch (CompletionException ex) {
				assertThat(this.application.container()).isEqualTo(Container.JETTY);
			}
		}
	}

	static class Application extends TestApplication.Served {

		@Bean
		static IdentifierResolver account() {
			return (request) -> request.getParameter("account");
		}

		@PostMapping("/method")
		@RateLimited("method")
		String method() {
			return "served";
		}

		@GetMapping("/key")
		String key(HttpServletRequest request) {
			return request.getParameter("key");
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
