package io.github.ratelimit.redis.cluster;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
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

	/** The host of a node whose address is not known. */
	private static final String UNKNOWN_HOST = "?";

	/** Of a question, because the answer is long. */
	private static final int WORK = 4;

	private final @Nullable HostAndPort[] nodes = new @Nullable HostAndPort[Protocol.CLUSTER_HASHSLOTS];

	private final Set<HostAndPort> masters = new HashSet<>();

	private Slots() {
	}

	/** Returns a call for the reply that {@link #read} reads. */
	static Call question(long deadline) {
		return new CommandCall((source) -> List.of(new CommandArguments(Command.CLUSTER).add("SLOTS")), WORK, 0,
				deadline);
	}

	/**
	 * Reads the reply to {@code CLUSTER SLOTS}, in which a node may leave out its own
	 * host.
	 * @throws WrongReplyException if it is another reply
	 */
	static Slots read(@Nullable Object reply, HostAndPort asked) {
		Slots slots = new Slots();
		for (Object range : list(reply, 0)) {
			slots.add(list(range, 3), asked);
		}
		return slots;
	}

	private void add(List<?> range, HostAndPort asked) {
		List<?> master = list(range.get(2), 2);
		String host = (master.get(0) instanceof byte[] text) ? new String(text, StandardCharsets.UTF_8) : "";
		if (!host.equals(UNKNOWN_HOST)) {
			HostAndPort node = address(host, number(master.get(1), 65_535), asked);
			int last = number(range.get(1), this.nodes.length - 1);
			Arrays.fill(this.nodes, number(range.get(0), last), last + 1, node);
			this.masters.add(node);
		}
	}

	private static List<?> list(@Nullable Object value, int size) {
		if (value instanceof List<?> list && list.size() >= size) {
			return list;
		}
		throw invalid(value);
	}

	private static int number(@Nullable Object value, int max) {
		if (value instanceof Long number && number >= 0 && number <= max) {
			return number.intValue();
		}
		throw invalid(value);
	}

	private static WrongReplyException invalid(@Nullable Object value) {
		return new WrongReplyException(
				"Invalid reply of CLUSTER SLOTS (%s): is this a node of a Redis cluster?".formatted(value), null);
	}

	/** Returns an address; an empty host is that of the node that was asked. */
	static HostAndPort address(String host, int port, HostAndPort asked) {
		return new HostAndPort(host.isEmpty() ? asked.getHost() : host, port);
	}

	/** Returns the node that has a slot; {@code null} if none has it. */
	@Nullable HostAndPort node(int slot) {
		return this.nodes[slot];
	}

	Set<HostAndPort> masters() {
		return this.masters;
	}

}
