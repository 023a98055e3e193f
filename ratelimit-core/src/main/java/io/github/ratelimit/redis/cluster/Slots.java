package io.github.ratelimit.redis.cluster;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.CommandCall;
import io.github.ratelimit.redis.connection.WrongReplyException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Protocol.Command;

/**
 * The node of each slot, as one of the nodes has told.
 */
final class Slots {

	private static final String UNKNOWN_HOST = "?";

	private static final int PORTS = 65_536;

	private static final int WORK = 4;

	private final @Nullable HostAndPort[] nodes = new @Nullable HostAndPort[Protocol.CLUSTER_HASHSLOTS];

	final Set<HostAndPort> masters = new HashSet<>();

	/** Reads the reply to {@code CLUSTER SLOTS}. */
	Slots(@Nullable Object reply, HostAndPort asked) {
		try {
			for (Object range : (List<?>) Objects.requireNonNull(reply)) {
				add((List<?>) range, asked);
			}
		}
		catch (RuntimeException ex) {
			throw new WrongReplyException("Invalid reply of CLUSTER SLOTS (%s): is this a node of a Redis cluster?"
				.formatted(ex.getMessage()), ex);
		}
	}

	static Call question(long deadline) {
		return CommandCall.question(new CommandArguments(Command.CLUSTER).add("SLOTS"), WORK, deadline);
	}

	private void add(List<?> range, HostAndPort asked) {
		List<?> master = (List<?>) range.get(2);
		String host = (master.get(0) instanceof byte[] text) ? new String(text, StandardCharsets.UTF_8) : "";
		if (!host.equals(UNKNOWN_HOST)) {
			HostAndPort node = address(host, number(master.get(1), PORTS), asked);
			int end = number(range.get(1), this.nodes.length) + 1;
			Arrays.fill(this.nodes, number(range.get(0), end), end, node);
			this.masters.add(node);
		}
	}

	private static int number(Object value, int end) {
		return (int) Objects.checkIndex((Long) value, (long) end);
	}

	/** Returns an address; an empty host is that of the node that was asked. */
	static HostAndPort address(String host, int port, HostAndPort asked) {
		return new HostAndPort(host.isEmpty() ? asked.getHost() : host, port);
	}

	@Nullable HostAndPort node(int slot) {
		return this.nodes[slot];
	}

}
