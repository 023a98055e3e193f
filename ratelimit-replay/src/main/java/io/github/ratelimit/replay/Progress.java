package io.github.ratelimit.replay;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * A bar on the error stream that shows how much has been read, if that is a terminal and
 * takes long.
 */
final class Progress {

	private static final int WIDTH = 40;

	private static final long NANOS_BETWEEN = 500_000_000;

	private static final boolean SHOWN = isTerminal();

	private final long bytes;

	private long last = System.nanoTime();

	Progress(List<String> files) {
		this.bytes = Math.max(1, files.stream().mapToLong((file) -> new File(file).length()).sum());
	}

	/** Returns whether the error stream is a terminal, which the JDK does not tell. */
	private static boolean isTerminal() {
		try {
			var test = new ProcessBuilder("test", "-t", "2").redirectError(ProcessBuilder.Redirect.INHERIT).start();
			return test.waitFor() == 0;
		}
		catch (IOException | InterruptedException ex) {
			return false;
		}
	}

	void show(List<LogFile> files, long requests) {
		if (SHOWN && requests % 1024 == 0 && System.nanoTime() - this.last > NANOS_BETWEEN) {
			double share = Math.min(1, files.stream().mapToLong(LogFile::bytes).sum() / (double) this.bytes);
			String bar = "#".repeat((int) (share * WIDTH)) + " ".repeat(WIDTH - (int) (share * WIDTH));
			// The cursor stays at the beginning, so that what is printed next covers it.
			System.err.printf(Locale.ROOT, "[%s] %3.0f %%, %s requests\r", bar, 100 * share, Table.number(requests));
			this.last = System.nanoTime();
		}
	}

	void clear() {
		if (SHOWN) {
			System.err.print(" ".repeat(2 * WIDTH) + "\r");
		}
	}

}
