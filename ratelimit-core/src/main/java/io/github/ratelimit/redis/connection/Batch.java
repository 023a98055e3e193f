package io.github.ratelimit.redis.connection;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/**
 * Calls that are sent together: all commands are written before the first reply is read.
 */
final class Batch {

	private static final CommandArguments ASKING = new CommandArguments(Command.ASKING);

	private final Listener listener;

	private List<Group> groups = new ArrayList<>(1);

	/** Whether the server has refused a call because it is not the right one. */
	boolean refused;

	/** Whether the server has refused a call because it loads its data. */
	boolean loading;

	Batch(List<Call> calls, Listener listener) {
		this.listener = listener;
		calls.forEach(this::add);
	}

	private void add(Call call) {
		for (Group group : this.groups) {
			if (group.takes(call)) {
				group.calls.add(call);
				return;
			}
		}
		this.groups.add(new Group(call, false));
	}

	/**
	 * Sends all calls and delivers the replies. Only commands without effect are sent
	 * once more: with the source of a script that the server does not know, or call by
	 * call if the Redis keys of several calls are at two nodes.
	 */
	void exchange(Link link) {
		while (!this.groups.isEmpty()) {
			this.groups = send(link);
		}
	}

	/** Returns the groups to send once more. */
	private List<Group> send(Link link) {
		List<CommandArguments> commands = new ArrayList<>();
		this.groups.forEach((group) -> group.addTo(commands));
		if (commands.isEmpty()) {
			return List.of();
		}
		Iterator<Object> replies = link.exchange(commands).iterator();
		List<Group> again = new ArrayList<>(0);
		this.groups.forEach((group) -> {
			again.addAll(group.read(replies, this.listener));
			this.refused |= group.hasFailed(ErrorText::isOfWrongServer);
			this.loading |= group.hasFailed(ErrorText::isOfLoadingServer);
		});
		return again;
	}

	private static final class Group {

		private final Call first;

		private boolean source;

		private List<Call> calls = new ArrayList<>(1);

		private List<CommandArguments> sent = List.of();

		Group(Call first, boolean source) {
			this.first = first;
			this.source = source;
			this.calls.add(first);
		}

		boolean takes(Call call) {
			return call.codec() == this.first.codec() && call.slot() == this.first.slot()
					&& call.asking == this.first.asking;
		}

		void addTo(List<CommandArguments> commands) {
			try {
				List<CommandArguments> own = this.first.codec().commands(this.calls, this.source);
				this.sent = this.first.asking ? withAsking(own) : own;
				commands.addAll(this.sent);
			}
			catch (RuntimeException ex) {
				this.sent = List.of();
				fail("The commands of a call could not be made", ex);
			}
		}

		private static List<CommandArguments> withAsking(List<CommandArguments> commands) {
			boolean transaction = commands.get(0).getCommand() == Command.MULTI;
			List<CommandArguments> all = new ArrayList<>();
			for (CommandArguments command : commands) {
				if (all.isEmpty() || !transaction) {
					all.add(ASKING);
				}
				all.add(command);
			}
			return all;
		}

		/** Returns the groups to send once more. */
		List<Group> read(Iterator<Object> replies, Listener listener) {
			List<Object> own = new ArrayList<>(this.sent.size());
			for (CommandArguments command : this.sent) {
				Object reply = replies.next();
				if (command != ASKING) {
					own.add(reply);
				}
			}
			if (own.isEmpty()) {
				return List.of();
			}
			JedisRedirectionException redirection = redirection(own);
			boolean unknown = !this.source && own.get(0) instanceof JedisNoScriptException
					&& own.stream().allMatch(JedisNoScriptException.class::isInstance);
			// Old servers redirect all calls if one of them has to be.
			boolean moving = this.calls.size() > 1 && (redirection instanceof JedisAskDataException
					|| ErrorText.isOfMovingSlot(own.get(own.size() - 1)));
			if (unknown || moving) {
				long now = System.nanoTime();
				this.calls = this.calls.stream().filter((call) -> call.takeBack() && call.take(now)).toList();
				this.source |= unknown;
				return this.calls.isEmpty() ? List.of() : unknown ? List.of(this)
						: this.calls.stream().map((call) -> new Group(call, this.source)).toList();
			}
			try {
				if (redirection != null) {
					listener.redirected(this.calls, redirection);
				}
				else {
					this.first.codec().deliver(this.calls, own);
				}
			}
			catch (RuntimeException ex) {
				fail("The replies to a call could not be delivered", ex);
			}
			return List.of();
		}

		boolean hasFailed(Predicate<@Nullable Throwable> kind) {
			for (int i = 0; i < this.calls.size(); i++) {
				if (kind.test(this.calls.get(i).failure())) {
					return true;
				}
			}
			return false;
		}

		/** Returns where to send the calls instead, if they had no effect here. */
		private static @Nullable JedisRedirectionException redirection(List<Object> replies) {
			for (Object reply : replies) {
				if (reply instanceof JedisRedirectionException redirection) {
					return redirection;
				}
			}
			return null;
		}

		private void fail(String message, RuntimeException cause) {
			JedisException failure = (cause instanceof JedisException ex) ? ex : new JedisException(message, cause);
			this.calls.forEach((call) -> call.fail(failure));
		}

	}

}
