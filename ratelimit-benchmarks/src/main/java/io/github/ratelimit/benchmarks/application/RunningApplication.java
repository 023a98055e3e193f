package io.github.ratelimit.benchmarks.application;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An application in its own JVM.
 */
final class RunningApplication implements AutoCloseable {

	private static final int ATTEMPTS = 3000;

	private static final Duration BETWEEN_ATTEMPTS = Duration.ofMillis(20);

	private final Process process;

	private final int port;

	private Start start = new Start(0, 0);

	private RunningApplication(Process process, int port) {
		this.process = process;
		this.port = port;
	}

	/**
	 * Starts an application and waits until it answers.
	 * @param folder the folder of its module
	 * @param profile the profile of its configuration
	 * @param redis the address of its Redis
	 */
	static RunningApplication start(Path folder, String profile, URI redis, Scenario scenario) throws IOException {
		long begin = System.nanoTime();
		int port = freePort();
		Path target = folder.resolve("target");
		Process process = new ProcessBuilder(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx512m", "-jar", target.resolve(folder.getFileName() + ".jar").toString(), "--server.port=" + port,
				"--server.address=127.0.0.1", "--spring.data.redis.host=" + redis.getHost(),
				"--spring.data.redis.port=" + redis.getPort(), "--limit=" + scenario.limit(),
				"--seconds=" + scenario.seconds(), "--spring.profiles.active=" + profile))
			.redirectErrorStream(true)
			.redirectOutput(target.resolve(scenario.name() + " " + profile + ".log").toFile())
			.start();
		RunningApplication application = new RunningApplication(process, port);
		application.awaitAnswer(folder);
		application.start = new Start((System.nanoTime() - begin) / 1_000_000_000.0,
				application.cpuMicros() / 1_000_000.0);
		return application;
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	private void awaitAnswer(Path folder) throws IOException {
		for (int i = 0; i < ATTEMPTS && !hasEnded(BETWEEN_ATTEMPTS); i++) {
			if (answers()) {
				return;
			}
		}
		close();
		throw new IllegalStateException("%s does not answer; its log is in its folder target".formatted(folder));
	}

	private boolean hasEnded(Duration patience) {
		try {
			return this.process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private boolean answers() throws IOException {
		HttpURLConnection connection = (HttpURLConnection) URI.create("http://127.0.0.1:" + this.port + "/hello")
			.toURL()
			.openConnection();
		connection.setRequestProperty("X-User", "first");
		try {
			return connection.getResponseCode() == 200;
		}
		catch (IOException ex) {
			return false;
		}
		finally {
			connection.disconnect();
		}
	}

	int port() {
		return this.port;
	}

	/** Returns what it took until the first answer. */
	Start start() {
		return this.start;
	}

	/** Returns the CPU time of the JVM, in microseconds. */
	long cpuMicros() {
		return this.process.info().totalCpuDuration().orElseThrow().toNanos() / 1000;
	}

	@Override
	public void close() {
		this.process.destroy();
		this.process.onExit().join();
	}

	/**
	 * What a start took, the first answer included.
	 *
	 * @param cpuSeconds CPU time of the JVM
	 */
	record Start(double seconds, double cpuSeconds) {
	}

}
