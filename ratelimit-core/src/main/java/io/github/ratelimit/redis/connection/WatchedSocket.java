package io.github.ratelimit.redis.connection;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * A socket that tells when nothing comes that should, and then goes on reading, where
 * another one would fail and lose what comes later.
 * <p>
 * Silence is seen in several looks, so that a pause of this process counts as one of them
 * only. A look that takes much longer than it should says that this process had to wait,
 * and not that the server did.
 */
final class WatchedSocket extends Socket {

	private static final int LOOKS = 4;

	private final Socket socket;

	/** Until then everything is read, if nobody watches. */
	private final long deadline;

	private @Nullable Watch watch;

	private int lookMillis;

	/**
	 * Creates a socket.
	 * @param socket a connected one
	 * @param deadline until when the login may take, by {@link System#nanoTime()}
	 */
	WatchedSocket(Socket socket, long deadline) {
		this.socket = socket;
		this.deadline = deadline;
	}

	/** Has somebody told of what comes from now on, and reads it without a deadline. */
	void watch(Watch watch, Duration budget) throws IOException {
		this.lookMillis = (int) Math.max(1, budget.toMillis() / LOOKS);
		this.socket.setSoTimeout(this.lookMillis);
		this.watch = watch;
	}

	/** Returns whether the other end has closed it, or says what it was not asked. */
	boolean isForsaken() {
		try {
			this.socket.setSoTimeout(1);
			this.socket.getInputStream().read();
			return true;
		}
		catch (SocketTimeoutException ex) {
			return false;
		}
		catch (IOException ex) {
			return true;
		}
	}

	private int read(InputStream in, byte[] target, int offset, int length) throws IOException {
		if (this.watch == null) {
			long left = TimeUnit.NANOSECONDS.toMillis(this.deadline - System.nanoTime());
			if (left <= 0) {
				throw new SocketTimeoutException("No answer in time");
			}
			this.socket.setSoTimeout((int) left);
			return in.read(target, offset, length);
		}
		this.socket.setSoTimeout(this.lookMillis);
		int looks = 0;
		while (true) {
			long start = System.nanoTime();
			try {
				int read = in.read(target, offset, length);
				if (read > 0) {
					this.watch.received(System.nanoTime());
				}
				return read;
			}
			catch (SocketTimeoutException ex) {
				// Nothing has arrived, also not while this thread could not run.
				long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
				if (took < 2 * this.lookMillis && ++looks >= LOOKS) {
					this.watch.silent();
				}
			}
		}
	}

	@Override
	public InputStream getInputStream() throws IOException {
		return new FilterInputStream(this.socket.getInputStream()) {

			@Override
			public int read(byte[] target, int offset, int length) throws IOException {
				return WatchedSocket.this.read(this.in, target, offset, length);
			}

		};
	}

	@Override
	public OutputStream getOutputStream() throws IOException {
		return this.socket.getOutputStream();
	}

	@Override
	public synchronized int getSoTimeout() throws SocketException {
		return this.socket.getSoTimeout();
	}

	@Override
	public boolean isBound() {
		return this.socket.isBound();
	}

	@Override
	public boolean isConnected() {
		return this.socket.isConnected();
	}

	@Override
	public boolean isClosed() {
		return this.socket.isClosed();
	}

	@Override
	public synchronized void close() throws IOException {
		this.socket.close();
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
