package io.github.ratelimit.replay;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Consumer;

import io.github.ratelimit.Identifier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the requests of files in the order of time.
 * <p>
 * Files are merged by time, because servers log beside each other, and logs are rotated.
 * Servers write a line when a request ends, some with the time of its beginning; so lines
 * wait until another one is a minute later. A line that is earlier still means that the
 * clock was set back: time then goes back for the limits, too.
 */
final class Log {

	private static final long LATE_MICROS = 60_000_000;

	private static final int MOST_WAITING = 100_000;

	private static final int SHOWN = 5;

	private final By by;

	private final Paths paths;

	private final LogFormat format;

	private final List<String> problems = new ArrayList<>();

	private final Map<String, Long> counts = new LinkedHashMap<>();

	private final PriorityQueue<Request> waiting = new PriorityQueue<>(Comparator.comparingLong(Request::micros));

	private long newest;

	/** The time of the first and of the last request, in microseconds. */
	long first = Long.MAX_VALUE;

	long last;

	/** How many requests were counted. */
	long requests;

	/** Whether the log tells no parts of seconds. */
	boolean wholeSeconds = true;

	/** Whether a file could not be read to its end. */
	boolean incomplete;

	Log(By by, Paths paths, LogFormat format) {
		this.by = by;
		this.paths = paths;
		this.format = format;
	}

	/**
	 * Reads files once.
	 * @throws IOException if one of them cannot be opened; one that cannot be read to its
	 * end is a {@linkplain #problems problem}
	 */
	void read(List<String> names, Progress progress, Consumer<Request> action) throws IOException {
		List<LogFile> files = new ArrayList<>();
		try {
			for (String name : names) {
				files.add(new LogFile(name));
			}
			PriorityQueue<Head> heads = new PriorityQueue<>(Comparator.comparingLong((head) -> head.request.micros));
			files.forEach((file) -> advance(file, heads));
			for (Head head = heads.poll(); head != null; head = heads.poll()) {
				accept(head, action);
				advance(head.file, heads);
				progress.show(files, this.requests);
			}
			release(action, 0, Long.MAX_VALUE);
		}
		finally {
			for (LogFile file : files) {
				file.close();
			}
		}
	}

	private void advance(LogFile file, PriorityQueue<Head> heads) {
		try {
			for (String line = file.next(); line != null; line = file.next()) {
				Request request = line.isBlank() ? null : parse(file.place(), line);
				if (request != null) {
					heads.add(new Head(file, request));
					return;
				}
			}
		}
		catch (IOException ex) {
			this.incomplete = true;
			this.problems.add(file.place() + ": the file cannot be read beyond this line: " + ex.getMessage());
		}
	}

	private @Nullable Request parse(String place, String text) {
		try {
			LogLine line = this.format.parse(text);
			if (!this.paths.match(line)) {
				count("requests of other paths, left out");
				return null;
			}
			Identifier client = this.by.identify(line, this.paths);
			if (client == null) {
				count("requests without " + this.by + ", left out");
				return null;
			}
			if (client.type().equals("ip") && !this.by.toString().equals("ip")) {
				count("requests without " + this.by + ", counted by ip");
			}
			return new Request(line.micros(), client);
		}
		catch (IllegalArgumentException ex) {
			if (count("lines that cannot be read") <= SHOWN) {
				this.problems.add("%s: %s: %s".formatted(place, ex.getMessage(), Table.printable(text)));
			}
			return null;
		}
	}

	private void accept(Head head, Consumer<Request> action) {
		long micros = head.request.micros;
		if (micros < this.newest - LATE_MICROS) {
			if (count("times the log goes back") == 1) {
				this.problems.add(head.file.place() + ": the log goes back by more than a minute, and limits with it");
			}
			release(action, 0, Long.MAX_VALUE);
			this.newest = micros;
		}
		this.newest = Math.max(this.newest, micros);
		this.first = Math.min(this.first, micros);
		this.last = Math.max(this.last, micros);
		this.wholeSeconds &= micros % 1_000_000 == 0;
		this.requests++;
		this.waiting.add(head.request);
		release(action, MOST_WAITING, this.newest - LATE_MICROS);
	}

	private void release(Consumer<Request> action, int most, long until) {
		while (this.waiting.size() > most || (!this.waiting.isEmpty() && this.waiting.element().micros < until)) {
			action.accept(this.waiting.remove());
		}
	}

	static Instant time(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	/** Returns the time from the first request to the last. */
	Duration length() {
		return (this.requests > 0) ? Duration.between(time(this.first), time(this.last)) : Duration.ZERO;
	}

	private long count(String what) {
		return this.counts.merge(what, 1L, Long::sum);
	}

	/** Returns what was not counted, or not as it stands there. */
	List<String> problems() {
		List<String> all = new ArrayList<>(this.problems);
		this.counts.forEach((what, number) -> all.add(what + ": " + Table.number(number)));
		return all;
	}

	/**
	 * A request.
	 *
	 * @param micros when it was made, in microseconds since the epoch
	 * @param client who is counted
	 */
	record Request(long micros, Identifier client) {

	}

	/** The next request of a file. */
	private record Head(LogFile file, Request request) {

	}

}
