package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/**
 * Commands that travel together, in one round trip.
 */
final class Batch {

	private final List<Line> lines = new ArrayList<>();

	/**
	 * Adds a command.
	 * @return what the server answers, once the batch was sent
	 */
	Reply add(Command command, String... arguments) {
		Line line = new Line(command, arguments, new Reply());
		this.lines.add(line);
		return line.reply();
	}

	void addAll(Batch other) {
		this.lines.addAll(other.lines);
	}

	boolean isEmpty() {
		return this.lines.isEmpty();
	}

	private record Line(Command command, String[] arguments, Reply reply) {

	}

	/**
	 * What one decision does at a slot, over a connection that stays the same, as
	 * watching Redis keys demands.
	 */
	static final class Session implements AutoCloseable {

		private static final Logger logger = LoggerFactory.getLogger(Session.class);

		/** Why something fails that others undo or prevent, however often it is tried. */
		static final String OTHERS_WRITE = "Somebody else keeps writing to the Redis keys";

		/** How often is tried what fails when a watched Redis key changes. */
		private static final int ATTEMPTS = 100;

		/** How often a slot may move during one decision. */
		private static final int MOVES = 8;

		private final Link link;

		/**
		 * What was sent and not answered yet: the commands of a transaction, and EXEC.
		 */
		private final List<Response<Object>> queued = new ArrayList<>();

		private int moves;

		Session(Link link) {
			this.link = link;
		}

		/**
		 * Tries what fails when a watched Redis key changes, until none does.
		 * @param attempt whether it was done
		 * @throws JedisException if others write to them all the time
		 */
		static void untilUnchanged(BooleanSupplier attempt) {
			for (int i = 0; i < ATTEMPTS; i++) {
				if (attempt.getAsBoolean()) {
					return;
				}
			}
			throw new JedisException(OTHERS_WRITE);
		}

		/**
		 * Executes all commands or none, whatever has been watched.
		 * @throws JedisDataException if one of them failed, and not because of what is in
		 * its Redis key
		 */
		void transact(Batch batch) {
			beginSurely(batch);
			endSurely(batch);
		}

		/** Sends what is executed whatever has been watched, and waits for nothing. */
		void beginSurely(Batch batch) {
			unwatch();
			begin(batch);
		}

		private void unwatch() {
			if (this.link.isWatching()) {
				send(Command.UNWATCH);
				this.link.setWatching(false);
			}
		}

		/** Takes in the answers to that. */
		void endSurely(Batch batch) {
			if (!end(batch)) {
				throw new JedisDataException("Redis did not execute a transaction");
			}
		}

		/**
		 * Executes all commands or none.
		 * @return whether they were executed; if not, a watched key has changed
		 * @throws JedisDataException if one of them failed, and not because of what is in
		 * its Redis key
		 */
		boolean transactUnlessChanged(Batch batch) {
			begin(batch);
			return end(batch);
		}

		/** Sends the commands of a transaction, and waits for nothing. */
		void begin(Batch batch) {
			this.queued.clear();
			send(Command.MULTI);
			for (Line line : batch.lines) {
				this.queued.add(send(line.command(), line.arguments()));
			}
			this.queued.add(send(Command.EXEC));
			this.link.flush();
		}

		/**
		 * Takes in the answers. If the slot has moved, nothing was executed, and the same
		 * is done where it is now.
		 * @return whether they were executed; if not, a watched key has changed
		 * @throws JedisDataException if one of them failed, and not because of what is in
		 * its Redis key
		 */
		boolean end(Batch batch) {
			sync();
			boolean watched = this.link.isWatching();
			this.link.setWatching(false);
			JedisMovedDataException moved = moved();
			if (moved != null) {
				follow(moved);
				if (watched) {
					// What was watched there is not watched here.
					return false;
				}
				unwatch();
				return transactUnlessChanged(batch);
			}
			List<?> replies = (List<?>) this.queued.get(this.queued.size() - 1).get();
			if (replies == null) {
				return false;
			}
			for (int i = 0; i < replies.size(); i++) {
				batch.lines.get(i).reply().set(replies.get(i));
			}
			return true;
		}

		private void sync() {
			try {
				this.link.pipeline().sync();
			}
			catch (RuntimeException ex) {
				throw UnreadableReplyException.of(ex);
			}
		}

		private @Nullable JedisMovedDataException moved() {
			for (Response<Object> response : this.queued) {
				if (replyOf(response) instanceof JedisMovedDataException ex) {
					return ex;
				}
			}
			return null;
		}

		private void follow(JedisMovedDataException moved) {
			this.moves++;
			if (this.moves > MOVES) {
				throw moved;
			}
			this.link.follow(moved);
		}

		/**
		 * Watches Redis keys until the next transaction, which is not executed if one of
		 * them changes or expires.
		 * @param reads commands that read them from then on
		 * @throws JedisDataException if one of them failed, and not because of what is in
		 * its Redis key
		 */
		void watch(List<String> keys, Batch reads) {
			this.link.setWatching(true);
			Response<Object> watch = send(Command.WATCH, keys.toArray(String[]::new));
			List<Response<Object>> replies = new ArrayList<>();
			for (Line line : reads.lines) {
				replies.add(send(line.command(), line.arguments()));
			}
			sync();
			if (replyOf(watch) instanceof JedisMovedDataException moved) {
				follow(moved);
				watch(keys, reads);
				return;
			}
			watch.get();
			for (int i = 0; i < replies.size(); i++) {
				reads.lines.get(i).reply().set(replyOf(replies.get(i)));
			}
		}

		private static @Nullable Object replyOf(Response<Object> response) {
			try {
				return response.get();
			}
			catch (JedisDataException ex) {
				return ex;
			}
		}

		private Response<Object> send(Command command, String... arguments) {
			return this.link.pipeline().sendCommand(command, arguments);
		}

		/** Ends the decision at this slot. */
		@Override
		public void close() {
			try {
				this.link.close();
			}
			catch (RuntimeException ex) {
				// The connection is broken, and not used again. Whoever needed an answer
				// knows.
				logger.debug("Redis failed to end a decision", ex);
			}
		}

	}

}
