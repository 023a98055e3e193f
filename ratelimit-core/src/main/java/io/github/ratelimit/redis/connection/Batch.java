package io.github.ratelimit.redis.connection;

import java.util.ArrayList;
import java.util.List;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Calls that are sent together: first the commands of all groups, then all replies are
 * read.
 */
final class Batch {

	private static final CommandArguments ASKING = new CommandArguments(Command.ASKING);

	private final Redirections redirections;

	private List<Group> groups = new ArrayList<>(1);

	Batch(List<Call> calls, Redirections redirections) {
		this.redirections = redirections;
		calls.forEach(this::add);
	}

	private void add(Call call) {
		for (Group group : this.groups) {
			if (group.takes(call)) {
				group.calls.add(call);
				return;
			}
		}
		this.groups.add(new Group(call));
	}

	/**
	 * Sends all calls and delivers the replies. Those whose script the server does not
	 * know had no effect, and are sent once more with its source.
	 * @throws JedisException if the connection has failed; what was delivered before
	 * stays so
	 */
	void exchange(Link link) {
		send(link, false);
		if (!this.groups.isEmpty()) {
			send(link, true);
		}
	}

	/** Keeps the groups that have to be sent with their source. */
	private void send(Link link, boolean source) {
		List<CommandArguments> commands = new ArrayList<>();
		this.groups.forEach((group) -> group.write(commands, source));
		if (commands.isEmpty()) {
			this.groups = List.of();
			return;
		}
		List<Object> replies = link.exchange(commands);
		List<Group> unknown = new ArrayList<>(0);
		int begin = 0;
		for (Group group : this.groups) {
			List<Object> own = replies.subList(begin, begin + group.commands);
			begin += group.commands;
			if (!own.isEmpty() && group.read(own, source, this.redirections)) {
				unknown.add(group);
			}
		}
		this.groups = unknown;
	}

	/** Calls whose commands are the same. */
	private static final class Group {

		private final Call first;

		private List<Call> calls = new ArrayList<>(1);

		/** How many were sent, and will be answered. */
		private int commands;

		Group(Call first) {
			this.first = first;
			this.calls.add(first);
		}

		boolean takes(Call call) {
			return call.carrier() == this.first.carrier() && call.slot() == this.first.slot()
					&& call.asking() == this.first.asking();
		}

		void write(List<CommandArguments> target, boolean source) {
			int before = target.size();
			try {
				for (CommandArguments command : this.first.carrier().commands(this.calls, source)) {
					if (this.first.asking()) {
						target.add(ASKING);
					}
					target.add(command);
				}
			}
			catch (RuntimeException ex) {
				fail("The commands of a call could not be made", ex);
			}
			this.commands = target.size() - before;
		}

		/** Returns whether the calls are to be sent with their source. */
		boolean read(List<Object> replies, boolean source, Redirections redirections) {
			List<Object> own = this.first.asking() ? withoutAsking(replies) : replies;
			if (!source && own.stream().allMatch(JedisNoScriptException.class::isInstance)) {
				long now = System.nanoTime();
				this.calls = this.calls.stream().filter((call) -> call.takeBack() && call.take(now)).toList();
				return !this.calls.isEmpty();
			}
			try {
				deliver(own, redirections);
			}
			catch (RuntimeException ex) {
				fail("The replies to a call could not be delivered", ex);
			}
			return false;
		}

		private void deliver(List<Object> replies, Redirections redirections) {
			var redirection = this.first.carrier().redirection(replies);
			if (redirection != null) {
				redirections.redirect(this.calls, redirection);
			}
			else {
				this.first.carrier().deliver(this.calls, replies);
			}
		}

		private static List<Object> withoutAsking(List<Object> replies) {
			List<Object> own = new ArrayList<>(replies.size() / 2);
			for (int i = 1; i < replies.size(); i += 2) {
				own.add(replies.get(i));
			}
			return own;
		}

		private void fail(String message, RuntimeException cause) {
			JedisException failure = (cause instanceof JedisException ex) ? ex : new JedisException(message, cause);
			this.calls.forEach((call) -> call.fail(failure));
		}

	}

}
