package io.github.ratelimit.redis.connection;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * A socket that tells when nothing comes that should, and then goes on reading, where
 * another one would fail and lose what comes later. Encryption lies above it.
 * <p>
 * Silence is seen in several looks, so that a pause of this process counts as one of them
 * only. A look that takes much longer than it should says that this process had to wait,
 * and not that the server did.
 */
final class WatchedSocket extends Socket {

	private static final int LOOKS = 4;

	/** From its first byte on. */
	private static final Duration LONGEST_ANSWER = Duration.ofSeconds(2);

	/** Until then all is read, if nobody watches. */
	private final long deadline;

	private @Nullable Watch watch;

	private long look;

	private long answerBegan;

	private boolean answerHasBegun;

	WatchedSocket(long deadline) {
		this.deadline = deadline;
	}

	/** Has somebody told of what is read from now on, by whom it is read as well. */
	void watch(Watch watch, Duration budget) throws IOException {
		int millis = (int) Math.max(1, budget.toMillis() / LOOKS);
		setSoTimeout(millis);
		this.look = TimeUnit.MILLISECONDS.toNanos(millis);
		this.watch = watch;
	}

	/** Begins to wait for an answer. */
	void begin() {
		this.answerHasBegun = false;
	}

	/** Whether the other end has closed it, or says what it was not asked. */
	boolean isForsaken() {
		try {
			setSoTimeout(1);
			return isReadable();
		}
		catch (IOException ex) {
			return true;
		}
	}

	private boolean isReadable() throws IOException {
		try {
			super.getInputStream().read();
			return true;
		}
		catch (SocketTimeoutException ex) {
			setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(this.look));
			return false;
		}
	}

	private int read(InputStream in, byte[] target, int offset, int length) throws IOException {
		if (this.watch == null) {
			setSoTimeout(remainingMillis(this.deadline));
			return in.read(target, offset, length);
		}
		int looks = 0;
		while (true) {
			long start = System.nanoTime();
			try {
				int read = in.read(target, offset, length);
				received(read, this.watch);
				return read;
			}
			catch (SocketTimeoutException ex) {
				// Nothing has arrived, also not while this thread could not run.
				if (System.nanoTime() - start < 2 * this.look && ++looks >= LOOKS) {
					this.watch.silent();
				}
			}
		}
	}

	private void received(int read, Watch watch) throws SocketTimeoutException {
		long now = System.nanoTime();
		if (read > 0) {
			watch.received(now);
		}
		if (!this.answerHasBegun) {
			this.answerHasBegun = true;
			this.answerBegan = now;
		}
		else if (now - this.answerBegan > LONGEST_ANSWER.toNanos()) {
			throw new SocketTimeoutException("An answer has come to no end in " + LONGEST_ANSWER);
		}
	}

	static int remainingMillis(long deadline) throws SocketTimeoutException {
		long left = deadline - System.nanoTime();
		if (left <= 0) {
			throw new SocketTimeoutException("No connection in time");
		}
		return (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(left));
	}

	@Override
	public InputStream getInputStream() throws IOException {
		return new FilterInputStream(super.getInputStream()) {

			@Override
			public int read() throws IOException {
				byte[] one = new byte[1];
				return (read(one, 0, 1) < 0) ? -1 : Byte.toUnsignedInt(one[0]);
			}

			@Override
			public int read(byte[] target, int offset, int length) throws IOException {
				return WatchedSocket.this.read(this.in, target, offset, length);
			}

		};
	}

	/** Who is told, by the thread that reads. */
	interface Watch {

		/**
		 * Nothing has come for the budget. Repeated as long as nothing does.
		 * @throws SocketTimeoutException if it is not to be waited for any longer
		 */
		void silent() throws SocketTimeoutException;

		/** Something has come. */
		void received(long now);

	}

}
