package io.github.ratelimit.replay;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;

import org.jspecify.annotations.Nullable;

/**
 * The lines of a file, or of the standard input ({@code -}), compressed by gzip or not.
 * Of a long line only the first {@value #LONGEST} bytes are kept, which have what
 * matters.
 */
final class LogFile implements Closeable {

	static final int LONGEST = 65_536;

	private final String name;

	private final InputStream source;

	private final InputStream in;

	private final byte[] buffer = new byte[LONGEST];

	private final byte[] line = new byte[LONGEST];

	private int position;

	private int end;

	private long number;

	/**
	 * @throws IOException if the file cannot be opened; the message names it
	 */
	LogFile(String name) throws IOException {
		this.name = name;
		this.source = name.equals("-") ? System.in : new FileInputStream(name);
		BufferedInputStream buffered = new BufferedInputStream(this.source, LONGEST);
		try {
			buffered.mark(2);
			boolean compressed = buffered.read() == 0x1f && buffered.read() == 0x8b;
			buffered.reset();
			this.in = compressed ? new GZIPInputStream(buffered, LONGEST) : buffered;
		}
		catch (IOException ex) {
			throw new IOException(name + " (" + ((ex instanceof EOFException) ? "it is cut" : ex.getMessage()) + ")",
					ex);
		}
	}

	/** Returns the name of the file and the number of the current line. */
	String place() {
		return this.name + ":" + this.number;
	}

	/** Returns how many bytes of the file have been read. */
	long bytes() {
		try {
			return (this.source instanceof FileInputStream file) ? file.getChannel().position() : 0;
		}
		catch (IOException ex) {
			// A pipe has no position.
			return 0;
		}
	}

	/** Returns the next line; {@code null} at the end. */
	@Nullable String next() throws IOException {
		int length = 0;
		int next = read();
		if (next < 0) {
			return null;
		}
		for (; next >= 0 && next != '\n'; next = read()) {
			if (length < LONGEST) {
				this.line[length++] = (byte) next;
			}
		}
		this.number++;
		String text = new String(this.line, 0, length, StandardCharsets.UTF_8);
		// A byte order mark may begin a file.
		return text.startsWith("\uFEFF") ? text.substring(1) : text;
	}

	private int read() throws IOException {
		if (this.position == this.end) {
			this.position = 0;
			this.end = Math.max(0, this.in.read(this.buffer));
		}
		return (this.position < this.end) ? this.buffer[this.position++] & 0xff : -1;
	}

	@Override
	public void close() throws IOException {
		this.in.close();
	}

}
