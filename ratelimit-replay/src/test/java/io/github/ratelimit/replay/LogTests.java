package io.github.ratelimit.replay;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

class LogTests {

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH)
		.withZone(ZoneOffset.UTC);

	@TempDir
	private Path folder;

	private final List<String> seen = new ArrayList<>();

	private final Log log = new Log(By.parse("ip"), new Paths(List.of()), new LogFormat(Map.of()));

	/** Returns a line of a client, a number of seconds after 2026 began. */
	static String line(String client, long second) {
		return client + " - - [" + TIME.format(Instant.parse("2026-01-01T00:00:00Z").plusSeconds(second))
				+ "] \"GET /a HTTP/1.1\" 200 5\n";
	}

	/** Returns lines of one client. */
	static String lines(String client, long... seconds) {
		return Arrays.stream(seconds).mapToObj((second) -> line(client, second)).collect(Collectors.joining());
	}

	private String file(String name, byte[] content) throws IOException {
		return Files.write(this.folder.resolve(name), content).toString();
	}

	private String file(String name, String content) throws IOException {
		return file(name, content.getBytes(StandardCharsets.UTF_8));
	}

	/** Returns clients and seconds in the order in which they were read. */
	private List<String> read(String... files) throws IOException {
		this.log.read(List.of(files), new Progress(List.of()), (request) -> this.seen
			.add(request.client().value() + "@" + Math.floorMod(request.micros() / 1_000_000, 86_400)));
		return this.seen;
	}

	static byte[] compressed(String text) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
			out.write(text.getBytes(StandardCharsets.UTF_8));
		}
		return bytes.toByteArray();
	}

	@Test
	void filesAreMergedByTime() throws IOException {
		assertThat(read(file("b.gz", compressed(lines("b", 2, 3, 500))), file("a", lines("a", 1, 3, 400)),
				file("empty", "")))
			.containsExactlyInAnyOrder("a@1", "b@2", "b@3", "a@3", "a@400", "b@500")
			.startsWith("a@1", "b@2")
			.endsWith("a@400", "b@500");
		assertThat(this.log.problems()).isEmpty();
	}

	@Test
	void linesOfOneMinuteAreSorted() throws IOException {
		assertThat(read(file("a", lines("a", 45, 70, 15, 44, 200, 140)))).containsExactly("a@15", "a@44", "a@45",
				"a@70", "a@140", "a@200");
		assertThat(this.log.problems()).isEmpty();
	}

	@Test
	void timeGoesBackWhenTheClockWasSetBack() throws IOException {
		assertThat(read(file("a", lines("a", 4000, 4001, 400, 401, 4000)))).containsExactly("a@4000", "a@4001", "a@400",
				"a@401", "a@4000");
		assertThat(this.log.problems()).hasSize(2)
			.anySatisfy((problem) -> assertThat(problem).contains("a:3: the log goes back"));
	}

	@Test
	void bytesThatAreNoLineAreSkipped() throws IOException {
		String text = "\uFEFF" + line("a", 1).replace("\n", "\r\n") + "\r\n\n" + line("b", 2) + line("-", 3)
				+ line("c", 4).strip();
		assertThat(read(file("x", text))).containsExactly("a@1", "b@2", "c@4");
		assertThat(this.log.problems()).containsExactly("requests without ip, left out: 1");
	}

	@Test
	void badLinesAreCountedAndTheFirstShown() throws IOException {
		String bad = IntStream.range(0, 50)
			.mapToObj((i) -> "\u001b[31m" + "x".repeat(200) + "\n")
			.collect(Collectors.joining());
		assertThat(read(file("x", line("a", 1) + bad + line("b", 2)))).containsExactly("a@1", "b@2");
		assertThat(this.log.problems()).hasSize(6)
			.endsWith("lines that cannot be read: 50")
			.noneMatch((problem) -> problem.contains("\u001b") || problem.length() > 300);
		assertThat(this.log.problems().get(1)).contains("x:3: ");
	}

	@Test
	void longLineIsCut() throws IOException {
		String text = line("a", 1).strip() + "x".repeat(1_000_000) + "\n" + "y".repeat(1_000_000) + "\n" + line("b", 2);
		assertThat(read(file("x", text))).containsExactly("a@1", "b@2");
		assertThat(this.log.problems()).last().isEqualTo("lines that cannot be read: 1");
	}

	@Test
	void fileThatEndsWithinABlockIsReadSoFar() throws IOException {
		byte[] whole = compressed(
				IntStream.range(0, 2000).mapToObj((i) -> line("c" + i * i, i)).collect(Collectors.joining()));
		assertThat(read(file("x", Arrays.copyOf(whole, whole.length / 2)), file("a", line("a", 5)))).contains("a@5")
			.hasSizeBetween(500, 1900);
		assertThat(this.log.incomplete).isTrue();
		assertThat(this.log.problems().get(0)).contains("x:").contains("cannot be read beyond this line");
	}

	@Test
	void fileThatCannotBeOpenedIsNamed() throws IOException {
		for (String name : List.of(this.folder.toString(), this.folder.resolve("none").toString(),
				file("cut.gz", Arrays.copyOf(compressed(""), 5)))) {
			assertThatIOException().isThrownBy(() -> read(name))
				.withMessageMatching("\\Q" + name + "\\E \\((?!null).+\\)");
		}
	}

}
