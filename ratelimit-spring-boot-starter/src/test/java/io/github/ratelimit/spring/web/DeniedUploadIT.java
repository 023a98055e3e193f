package io.github.ratelimit.spring.web;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which clients see that their upload is denied before it is read. Nobody reads it for
 * the limiter: a denied client would hold a thread as long as it sends slowly.
 */
@StartApplication(on = { Container.TOMCAT, Container.JETTY },
		value = "ratelimit.policies.uploads: { paths: /**, limits: 1/h }")
class DeniedUploadIT {

	private static final int UPLOADS = 20;

	/** Tomcat reads a little more of a denied request. */
	private static final byte[] BODY = new byte[2_000_000];

	private static final String DENIED = "HTTP/1.1 429";

	@Parameter
	TestApplication application;

	@BeforeEach
	void useUp() {
		this.application.get("/");
	}

	/**
	 * Tomcat would not read the rest, and says that the connection ends. To a client that
	 * asks, it says that it may go on before any filter runs.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "Content-Length: 100000000", "Transfer-Encoding: chunked",
			"Content-Length: 100000000\r\nExpect: 100-continue" })
	void denialIsCompleteBeforeAnythingOfUploadIsRead(String headers) throws IOException {
		boolean asks = headers.contains("Expect");
		boolean tomcat = this.application.container() == Container.TOMCAT;
		try (Socket socket = this.application.connect()) {
			socket.getOutputStream()
				.write("POST / HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n".formatted(headers)
					.getBytes(StandardCharsets.US_ASCII));
			BufferedReader reader = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
			if (tomcat && asks) {
				assertThat(readHead(reader)).first().asString().startsWith("HTTP/1.1 100");
			}
			List<String> head = readHead(reader);
			assertThat(head).first().asString().startsWith(DENIED);
			assertThat(head).contains("Retry-After: 3600");
			if (headers.contains("Length") && (tomcat || asks)) {
				assertThat(head).contains("Connection: close");
			}
		}
	}

	private static List<String> readHead(BufferedReader reader) {
		return Stream.generate(() -> line(reader)).takeWhile((line) -> !line.isEmpty()).toList();
	}

	private static String line(BufferedReader reader) {
		try {
			return String.valueOf(reader.readLine());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Jetty closes the connection, so that a client may lose the answer. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void clientThatWritesAllFirstSeesDenialOnTomcat(boolean chunked) throws InterruptedException {
		HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.application.port() + "/"))
			.timeout(Duration.ofMinutes(1))
			.POST(chunked ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(BODY))
					: BodyPublishers.ofByteArray(BODY))
			.build();
		for (int i = 0; i < UPLOADS; i++) {
			try {
				assertThat(client.send(request, BodyHandlers.ofString()).statusCode()).isEqualTo(429);
			}
			catch (IOException ex) {
				assertThat(this.application.container()).isEqualTo(Container.JETTY);
			}
		}
	}

}
