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
 * A socket that notifies a watch of silence and continues to read, where another socket
 * would fail and lose a late reply.
 * <p>
 * A silence consists of several short timeouts, so that a pause of this process counts as
 * one of them at most. A timeout that takes much longer than it should shows that this
 * process was paused, not that the server is silent.
 */
final class WatchedSocket extends Socket {

	private static final int LOOKS = 4;

	private final Socket socket;

	private final Watch watch;

	private final int lookMillis;

	private @Nullable Long deadline;

	WatchedSocket(Socket socket, Watch watch, Duration budget) {
		this.socket = socket;
		this.watch = watch;
		this.lookMillis = (int) Math.max(1, budget.toMillis() / LOOKS);
	}

	/** Sets when reading fails, as during the login; {@code null} for never. */
	void answerUntil(@Nullable Long deadline) {
		this.deadline = deadline;
	}

	/** Reads whether the other end has closed it, or sent something unasked. */
	boolean readEnd() {
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
		int looks = 0;
		while (true) {
			long start = System.nanoTime();
			Long deadline = this.deadline;
			this.socket.setSoTimeout((deadline != null) ? look(deadline - start) : this.lookMillis);
			try {
				int read = in.read(target, offset, length);
				if (read > 0 && deadline == null) {
					this.watch.received(System.nanoTime());
				}
				return read;
			}
			catch (SocketTimeoutException ex) {
				// Nothing was received, not even while this thread was paused.
				long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
				if (took < 2 * this.lookMillis && ++looks >= LOOKS) {
					this.watch.silent();
				}
			}
		}
	}

	private int look(long left) throws SocketTimeoutException {
		if (left <= 0) {
			throw new SocketTimeoutException("No answer in time");
		}
		return (int) Math.max(1, Math.min(this.lookMillis, TimeUnit.NANOSECONDS.toMillis(left)));
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

	interface Watch {

		Watch NONE = new Watch() {
		};

		/**
		 * Nothing was received for the budget. Repeated as long as nothing is.
		 * @throws SocketTimeoutException to stop reading
		 */
		default void silent() throws SocketTimeoutException {
		}

		/** Something was received after the login. */
		default void received(long now) {
		}

	}

}
