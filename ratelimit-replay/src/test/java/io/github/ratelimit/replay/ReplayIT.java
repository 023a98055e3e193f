package io.github.ratelimit.replay;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The jar, as users run it.
 */
class ReplayIT {

	@TempDir
	private Path folder;

	private Process start(String... arguments) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-jar",
						System.getProperty("ratelimit.replay.jar")));
		command.addAll(List.of(arguments));
		return new ProcessBuilder(command).redirectError(this.folder.resolve("err").toFile())
			.redirectOutput(this.folder.resolve("out").toFile())
			.start();
	}

	@Test
	void jarReadsCompressedLogsAndExitsWithACode() throws Exception {
		Path log = this.folder.resolve("access.log.gz");
		try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(log))) {
			out.write((LogTests.lines("192.0.2.1", 0, 1, 2, 60) + "{\"time\":1767225660,\"ip\":\"192.0.2.1\"}\nbad")
				.getBytes(StandardCharsets.UTF_8));
		}
		assertThat(start(log.toString(), "--limits", "2/m", "--spare", "99.9%", "--yaml").waitFor()).isZero();
		assertThat(this.folder.resolve("out")).content().contains("5 requests of 1 clients", "limits: [4/m]");
		assertThat(this.folder.resolve("err")).content().contains("lines that cannot be read: 1").doesNotContain("%, ");
		assertThat(start("--limits", "2/m").waitFor()).isEqualTo(2);
		assertThat(start("--version").waitFor()).isZero();
		assertThat(this.folder.resolve("out")).content().matches("ratelimit-replay \\d.*\\R");
	}

	/** A million lines need no memory but for the clients. */
	@Test
	void millionLinesOfManyClientsFitIntoLittleMemory() throws Exception {
		Process process = start("-", "--limits", "10/s,120/m", "--algorithm", "sliding-window");
		try (BufferedWriter in = process.outputWriter(StandardCharsets.UTF_8)) {
			String request = "";
			for (int i = 0; i < 1_000_000; i++) {
				request = (i % 500 == 0) ? LogTests.line("", i / 500) : request;
				in.write((i % 10 == 0) ? "busy" : "10.0.%s.%s".formatted(i % 250, i % 401));
				in.write(request);
			}
		}
		assertThat(process.waitFor()).isZero();
		assertThat(this.folder.resolve("out")).content().contains("1,000,000 requests of ");
	}

}
