package io.github.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Which node of a cluster has which slot, as one of the nodes said.
 */
final class Slots {

	/** What a node says for the host of one that it does not know the address of. */
	private static final String UNKNOWN_HOST = "?";

	private final NavigableMap<Integer, Range> ranges = new TreeMap<>();

	/**
	 * Slots in a row.
	 *
	 * @param last the last one
	 */
	private record Range(int last, HostAndPort node) {

	}

	private Slots() {
	}

	/**
	 * Reads the answer to {@code CLUSTER SLOTS}.
	 * @param asked the node that gave it, which does not always name its own host
	 * @throws JedisDataException if that is no such answer
	 */
	static Slots read(@Nullable Object reply, HostAndPort asked) {
		Slots slots = new Slots();
		for (Object range : list(reply)) {
			slots.add(list(range), asked);
		}
		return slots;
	}

	private void add(List<?> range, HostAndPort asked) {
		if (range.size() < 3) {
			throw invalid(range);
		}
		List<?> master = list(range.get(2));
		if (master.size() < 2) {
			throw invalid(master);
		}
		String host = (master.get(0) instanceof byte[] text) ? new String(text, StandardCharsets.UTF_8) : "";
		if (!host.equals(UNKNOWN_HOST)) {
			this.ranges.put(number(range.get(0)),
					new Range(number(range.get(1)), address(host, number(master.get(1)), asked)));
		}
	}

	private static List<?> list(@Nullable Object value) {
		if (value instanceof List<?> list) {
			return list;
		}
		throw invalid(value);
	}

	private static int number(@Nullable Object value) {
		if (value instanceof Long number) {
			return number.intValue();
		}
		throw invalid(value);
	}

	private static JedisDataException invalid(@Nullable Object value) {
		return new JedisDataException(
				"Invalid reply of CLUSTER SLOTS (%s): is this a node of a Redis cluster?".formatted(value));
	}

	/** A node that names no host means the one that it was asked at. */
	static HostAndPort address(String host, int port, HostAndPort asked) {
		return new HostAndPort(host.isEmpty() ? asked.getHost() : host, port);
	}

	static int slot(String key) {
		return JedisClusterCRC16.getSlot(key);
	}

	/** Returns the node with a slot; {@code null} if none has it. */
	@Nullable HostAndPort node(int slot) {
		Map.Entry<Integer, Range> range = this.ranges.floorEntry(slot);
		return (range != null && slot <= range.getValue().last()) ? range.getValue().node() : null;
	}

	Set<HostAndPort> nodes() {
		return this.ranges.values().stream().map(Range::node).collect(Collectors.toSet());
	}

}
