package io.github.ratelimit.spring.web;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
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
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
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

	private static final int PART = 10_000;

	/** Tomcat reads a little more of a denied request. */
	private static final int PARTS = 200;

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	private static final String DENIED = "HTTP/1.1 429";

	private static final String BROKEN = "broken";

	@Parameter
	TestApplication application;

	@BeforeEach
	void useUp() {
		this.application.get("/");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void clientThatStopsWritingSeesDenial(boolean chunked) {
		assertThat(answers(() -> upload(chunked, 1))).hasSize(UPLOADS).containsOnly(DENIED);
	}

	/**
	 * Tomcat would not read the rest, and says that the connection ends. To a client that
	 * asks, it says that it may go on before any filter runs.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "", "\r\nExpect: 100-continue" })
	void denialOfHugeUploadIsCompleteAndEndsConnectionOnTomcat(String header) throws IOException {
		boolean tomcat = this.application.container() == Container.TOMCAT;
		try (Socket socket = this.application.connect()) {
			write(socket.getOutputStream(), head("Content-Length: 100000000" + header));
			BufferedReader reader = reader(socket);
			if (tomcat && !header.isEmpty()) {
				assertThat(readHead(reader)).first().asString().startsWith("HTTP/1.1 100");
			}
			List<String> head = readHead(reader);
			assertThat(head).first().asString().startsWith(DENIED);
			assertThat(head).contains("Retry-After: 3600");
			if (tomcat || !header.isEmpty()) {
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

	/** Jetty closes the connection if not all of the upload has arrived. */
	@Test
	void connectionIsReusedWhenUploadIsDenied() throws IOException {
		int size = (this.application.container() == Container.TOMCAT) ? 1_000_000 : 8_000;
		try (Socket socket = this.application.connect()) {
			BufferedReader reader = reader(socket);
			for (int i = 0; i < 3; i++) {
				ByteArrayOutputStream upload = new ByteArrayOutputStream();
				write(upload, head("Content-Length: " + size));
				upload.write(new byte[size]);
				upload.writeTo(socket.getOutputStream());
				List<String> head = readHead(reader);
				assertThat(head).first().asString().startsWith(DENIED);
				int length = head.stream()
					.filter((line) -> line.regionMatches(true, 0, "content-length: ", 0, 16))
					.mapToInt((line) -> Integer.parseInt(line.substring(16)))
					.findAny()
					.orElseThrow();
				assertThat(reader.read(new char[length])).isEqualTo(length);
			}
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void clientThatWritesAllFirstSeesDenialOnTomcat(boolean chunked) {
		assertAnswered(answers(() -> upload(chunked, PARTS)));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void clientOfTheJdkSeesDenialOnTomcat(boolean chunked) {
		HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		byte[] body = new byte[PARTS * PART];
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.application.port() + "/"))
			.timeout(TIMEOUT)
			.POST(chunked ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))
					: BodyPublishers.ofByteArray(body))
			.build();
		assertAnswered(answers(() -> "HTTP/1.1 " + client.send(request, BodyHandlers.ofString()).statusCode()));
	}

	/** Jetty closes the connection, so that a client may lose the answer. */
	private void assertAnswered(List<String> answers) {
		assertThat(answers).hasSize(UPLOADS)
			.isSubsetOf((this.application.container() == Container.TOMCAT) ? List.of(DENIED) : List.of(DENIED, BROKEN));
	}

	private static List<String> answers(Callable<String> upload) {
		return IntStream.range(0, UPLOADS).mapToObj((i) -> answer(upload)).toList();
	}

	private static String answer(Callable<String> upload) {
		try {
			return upload.call();
		}
		catch (IOException ex) {
			return BROKEN;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Writes some parts of an upload at once, and returns the beginning of the answer.
	 */
	private String upload(boolean chunked, int parts) throws IOException {
		ByteArrayOutputStream upload = new ByteArrayOutputStream();
		write(upload, head(chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + PARTS * PART));
		for (int i = 0; i < parts; i++) {
			write(upload, chunked ? Integer.toHexString(PART) + "\r\n" : "");
			upload.write(new byte[PART]);
			write(upload, chunked ? "\r\n" : "");
		}
		write(upload, (chunked && parts == PARTS) ? "0\r\n\r\n" : "");
		try (Socket socket = this.application.connect()) {
			socket.getOutputStream().write(upload.toByteArray());
			String line = reader(socket).readLine();
			return (line != null) ? line.substring(0, DENIED.length()) : BROKEN;
		}
	}

	private static String head(String length) {
		return "POST / HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n".formatted(length);
	}

	private static BufferedReader reader(Socket socket) throws IOException {
		return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
	}

	private static void write(OutputStream output, String text) throws IOException {
		output.write(text.getBytes(StandardCharsets.US_ASCII));
	}

}
