package io.github.ratelimit.replay;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * A bar that shows how much has been read, if that takes long.
 */
final class Progress {

	private static final int WIDTH = 40;

	private static final long NANOS_BETWEEN = 500_000_000;

	private final boolean shown;

	private final long bytes;

	private long last = System.nanoTime();

	/**
	 * @param shown whether the error stream is a terminal
	 */
	Progress(List<String> files, boolean shown) {
		this.shown = shown;
		this.bytes = Math.max(1, files.stream().mapToLong((file) -> new File(file).length()).sum());
	}

	/** Returns whether the error stream is a terminal, which the JDK does not tell. */
	static boolean isTerminal() {
		try {
			var test = new ProcessBuilder("test", "-t", "2").redirectError(ProcessBuilder.Redirect.INHERIT).start();
			return test.waitFor() == 0;
		}
		catch (IOException | InterruptedException ex) {
			return false;
		}
	}

	void show(List<LogFile> files, long requests) {
		if (this.shown && requests % 1024 == 0 && System.nanoTime() - this.last > NANOS_BETWEEN) {
			double share = Math.min(1, files.stream().mapToLong(LogFile::bytes).sum() / (double) this.bytes);
			String bar = "#".repeat((int) (share * WIDTH)) + " ".repeat(WIDTH - (int) (share * WIDTH));
			// The cursor stays at the beginning, so that what is printed next covers it.
			System.err.printf(Locale.ROOT, "[%s] %3.0f %%, %s requests\r", bar, 100 * share, Table.number(requests));
			this.last = System.nanoTime();
		}
	}

	void clear() {
		if (this.shown) {
			System.err.print(" ".repeat(2 * WIDTH) + "\r");
		}
	}

}
