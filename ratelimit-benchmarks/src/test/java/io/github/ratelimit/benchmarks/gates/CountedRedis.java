package io.github.ratelimit.benchmarks.gates;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.benchmarks.MeasuredRedis;
import redis.clients.jedis.UnifiedJedis;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis server whose instructions are counted, by the tool Callgrind of Valgrind. It is
 * some fifty times slower by that.
 */
final class CountedRedis implements AutoCloseable {

	private static final String TOTALS = "totals: ";

	private final Path folder;

	private final URI uri;

	private final Process process;

	private final UnifiedJedis client;

	private int dumps;

	private CountedRedis(Path folder, URI uri, Process process) {
		this.folder = folder;
		this.uri = uri;
		this.process = process;
		this.client = MeasuredRedis.connect(uri);
	}

	/** Whether there is what that needs. */
	static boolean isPossible() {
		return System.getProperty("os.name").equals("Linux") && System.getProperty("os.arch").equals("amd64")
				&& isInstalled("valgrind") && isInstalled("callgrind_control");
	}

	private static boolean isInstalled(String program) {
		return Stream.of(System.getenv("PATH").split(File.pathSeparator))
			.anyMatch((folder) -> Files.isExecutable(Path.of(folder, program)));
	}

	static CountedRedis start() throws IOException {
		Path folder = Files.createTempDirectory("callgrind");
		int port = freePort();
		List<String> command = List.of("valgrind", "--tool=callgrind", "--callgrind-out-file=" + folder.resolve("out"),
				ExecutableProvider.newJarResourceProvider().get().getPath(), "--port", Integer.toString(port), "--bind",
				"127.0.0.1", "--save", "", "--hz", "1");
		Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
		awaitStart(process);
		return new CountedRedis(folder, URI.create("redis://127.0.0.1:" + port), process);
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	private static void awaitStart(Process process) throws IOException {
		StringBuilder log = new StringBuilder();
		BufferedReader lines = process.inputReader();
		String line = lines.readLine();
		while (line != null && !line.contains("Ready to accept connections")) {
			log.append(line).append('\n');
			line = lines.readLine();
		}
		if (line == null) {
			throw new IllegalStateException("Redis has not started: " + log);
		}
	}

	URI uri() {
		return this.uri;
	}

	UnifiedJedis client() {
		return this.client;
	}

	/** Returns how many instructions were executed since the last call. */
	long instructions() {
		try {
			Process control = new ProcessBuilder("callgrind_control", "--dump", Long.toString(this.process.pid()))
				.redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start();
			control.waitFor();
			this.dumps++;
			return read(this.folder.resolve("out." + this.dumps));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private static long read(Path dump) throws IOException {
		try (Stream<String> lines = Files.lines(dump)) {
			return lines.filter((line) -> line.startsWith(TOTALS))
				.mapToLong((line) -> Long.parseLong(line.substring(TOTALS.length()).strip()))
				.findFirst()
				.orElseThrow();
		}
	}

	@Override
	public void close() throws IOException {
		this.client.close();
		this.process.destroy();
		this.process.onExit().join();
		try (Stream<Path> files = Files.list(this.folder)) {
			for (Path file : files.toList()) {
				Files.delete(file);
			}
		}
		Files.delete(this.folder);
	}

}
