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

	private final Watch watch;

	private final int lookMillis;

	private final long loginDeadline;

	private boolean loggedIn;

	/**
	 * Watches a connected socket.
	 * @param budget how long a silence is told of
	 * @param loginDeadline until when the login may take
	 */
	WatchedSocket(Socket socket, Watch watch, Duration budget, long loginDeadline) {
		this.socket = socket;
		this.watch = watch;
		this.lookMillis = (int) Math.max(1, budget.toMillis() / LOOKS);
		this.loginDeadline = loginDeadline;
	}

	/** The login is over. What comes from now on is read without a deadline. */
	void loggedIn() {
		this.loggedIn = true;
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
		int looks = 0;
		while (true) {
			long start = System.nanoTime();
			this.socket.setSoTimeout(this.loggedIn ? this.lookMillis : lookOfLogin(start));
			try {
				int read = in.read(target, offset, length);
				if (read > 0 && this.loggedIn) {
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

	private int lookOfLogin(long now) throws SocketTimeoutException {
		long left = TimeUnit.NANOSECONDS.toMillis(this.loginDeadline - now);
		if (left <= 0) {
			throw new SocketTimeoutException("No answer in time");
		}
		return (int) Math.min(this.lookMillis, left);
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

		Watch NONE = new Watch() {
		};

		/**
		 * Nothing has come for the budget. Repeated as long as nothing does.
		 * @throws SocketTimeoutException if it is not to be waited for any longer
		 */
		default void silent() throws SocketTimeoutException {
		}

		/** Something has come, but for what answers the login, which may be refused. */
		default void received(long now) {
		}

	}

}
