package io.github.ratelimit.redis.pipeline;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.Carrier;
import io.github.ratelimit.redis.connection.NoAnswerException;
import io.github.ratelimit.redis.connection.Servers;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Commands that the server of a slot executes all or not at all, in one round trip. Made
 * and awaited by one thread.
 */
final class Transaction implements Carrier {

	/** How many arguments take the server as long as the simplest decision. */
	private static final int ARGUMENTS_OF_A_DECISION = 32;

	private final List<CommandArguments> commands = new ArrayList<>(List.of(new CommandArguments(Command.MULTI)));

	private final Map<List<String>, Integer> places = new HashMap<>();

	private int arguments;

	private long deadline;

	private long answered;

	private @Nullable Call call;

	private List<?> replies = List.of();

	/**
	 * Creates a transaction without commands.
	 * @param deadline until when it may be sent and answered, by
	 * {@link System#nanoTime()}
	 */
	Transaction(long deadline) {
		this.deadline = deadline;
	}

	/**
	 * Adds a command, unless it holds an equal one.
	 * @return the place of the reply
	 */
	int add(Command command, String key, Object... others) {
		CommandArguments added = new CommandArguments(command).add(key);
		List<String> words = new ArrayList<>(List.of(command.name(), key));
		for (Object other : others) {
			added.add(other.toString());
			words.add(other.toString());
		}
		Integer place = this.places.putIfAbsent(words, this.places.size());
		if (place == null) {
			this.commands.add(added);
			this.arguments += words.size();
		}
		return (place != null) ? place : this.places.size() - 1;
	}

	/** Makes the deadline no later than that. */
	void notAfter(long deadline) {
		this.deadline = (deadline - this.deadline < 0) ? deadline : this.deadline;
	}

	/** Sends the commands, if there are any, and does not wait. */
	void submit(Servers servers, int slot) {
		if (!this.places.isEmpty()) {
			this.commands.add(new CommandArguments(Command.EXEC));
			this.call = new Call(this, slot, this.deadline) {

				@Override
				public int work() {
					return 1 + Transaction.this.arguments / ARGUMENTS_OF_A_DECISION;
				}

			};
			servers.submit(this.call);
		}
	}

	/**
	 * Waits for the replies.
	 * @throws JedisException if there are none in time
	 */
	void await() {
		if (this.call != null) {
			this.replies = (List<?>) Objects.requireNonNull(this.call.await());
			if (this.answered - this.deadline > 0) {
				throw new NoAnswerException("It was sent, and answered too late", null);
			}
		}
	}

	/** Whether the commands were executed. */
	boolean isAnswered() {
		return !this.replies.isEmpty();
	}

	/**
	 * What the server has replied; what is wrong with a Redis key as an exception, and
	 * {@code null} if it has not replied.
	 */
	@Nullable Object reply(int place) {
		if (this.replies.isEmpty()) {
			return null;
		}
		// Where a slot moves, each command follows an ASKING, which has a reply too.
		boolean asked = this.replies.size() > this.places.size();
		return this.replies.get(asked ? 2 * place + 1 : place);
	}

	/** What the server has replied to a command that reads several Redis keys. */
	List<?> replies(int place) {
		return (reply(place) instanceof List<?> list) ? list : List.of();
	}

	@Override
	public List<CommandArguments> commands(List<Call> calls, boolean source) {
		return this.commands;
	}

	@Override
	public void deliver(List<Call> calls, List<Object> replies) {
		this.answered = System.nanoTime();
		Call sent = calls.get(0);
		if (replies.get(replies.size() - 1) instanceof List<?> executed && executed.size() >= this.places.size()) {
			sent.complete(executed);
			return;
		}
		// The first error tells more than that of EXEC.
		sent.fail(replies.stream()
			.filter(JedisException.class::isInstance)
			.map(JedisException.class::cast)
			.findFirst()
			.orElseGet(() -> new JedisDataException("The server did not execute a transaction")));
	}

}
