package io.github.ratelimit.redis.pipeline;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.CommandCall;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.connection.WrongReplyException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * Commands for one slot, in one round trip, of which the server executes all or none: a
 * node that redirects them has executed none. Created and awaited by one thread.
 */
final class Transaction {

	/** The number of arguments that take the server as long as the simplest decision. */
	private static final int ARGUMENTS_OF_A_DECISION = 32;

	private final Map<List<String>, Consumer<@Nullable Object>> commands = new LinkedHashMap<>();

	private final int slot;

	private final long deadline;

	private @Nullable Call call;

	Transaction(int slot, long deadline) {
		this.slot = slot;
		this.deadline = deadline;
	}

	/** Adds a command, unless there is an equal one. */
	void add(Command command, Object... arguments) {
		ask((reply) -> {
		}, command, arguments);
	}

	/**
	 * @param reader receives the reply; an exception if the command has failed
	 */
	void ask(Consumer<@Nullable Object> reader, Command command, Object... arguments) {
		this.commands.merge(Stream.concat(Stream.of(command), Arrays.stream(arguments)).map(Object::toString).toList(),
				reader, Consumer::andThen);
	}

	/** Submits the commands, if there are any, without waiting. */
	void submit(Servers servers) {
		int arguments = this.commands.keySet().stream().mapToInt(List::size).sum();
		if (arguments > 0) {
			this.call = new CommandCall((source) -> commands(), 1 + arguments / ARGUMENTS_OF_A_DECISION, this.slot,
					this.deadline);
			servers.submit(this.call);
		}
	}

	/** Waits for the replies, if there are commands, and passes them to their readers. */
	void await() {
		if (this.call == null) {
			return;
		}
		if (!(this.call.await() instanceof List<?> replies) || replies.size() != this.commands.size()) {
			throw new WrongReplyException("The server did not execute a transaction", null);
		}
		Iterator<?> each = replies.iterator();
		this.commands.values().forEach((reader) -> reader.accept(each.next()));
	}

	private List<CommandArguments> commands() {
		List<CommandArguments> all = new ArrayList<>(List.of(new CommandArguments(Command.MULTI)));
		for (List<String> words : this.commands.keySet()) {
			all.add(new CommandArguments(Command.valueOf(words.get(0))).addObjects(words.subList(1, words.size())));
		}
		all.add(new CommandArguments(Command.EXEC));
		return all;
	}

}
