package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The nodes of a cluster. Calls are sent to all their nodes before the first answer is
 * awaited, on the thread of the caller. What a node has refused, because the Redis keys
 * are elsewhere or because it does not know the script, is sent again; nothing else is:
 * after a time-out or a broken connection it is not known what was done.
 */
final class Cluster implements Servers {

	/** How often a call is sent at most: nodes that disagree may send it to and fro. */
	private static final int TRIPS = 8;

	/** Time to take in what has arrived while another node was waited for. */
	private static final Duration ARRIVED = Duration.ofMillis(2);

	/**
	 * Those who need several connections take them in the same order, or none gets on.
	 */
	static final Comparator<HostAndPort> ORDER = Comparator.comparing(HostAndPort::getHost)
		.thenComparing(HostAndPort::getPort);

	private final GuardedNodes nodes;

	private final Topology topology;

	Cluster(NodeConnections nodes) {
		this.nodes = new GuardedNodes(nodes);
		this.topology = new Topology(this.nodes);
	}

	void close() {
		this.nodes.close();
	}

	@Override
	public int slot(String key) {
		return Slots.slot(key);
	}

	@Override
	public void send(List<Call> calls) {
		List<Journey> open = new ArrayList<>();
		for (Call call : calls) {
			try {
				open.add(new Journey(call, this.topology.node(call.key())));
			}
			catch (JedisException ex) {
				// Nothing is sent if something cannot be.
				calls.forEach((each) -> each.fail(ex));
				return;
			}
		}
		for (int trip = 0; !open.isEmpty(); trip++) {
			JedisException failure = failure(calls);
			if (failure == null && trip == TRIPS) {
				failure = new JedisException("The nodes of the cluster do not agree on who has a slot");
			}
			if (failure != null) {
				// What was not done yet need not be taken back.
				fail(open, failure);
				return;
			}
			open = travel(open);
		}
	}

	private static @Nullable JedisException failure(List<Call> calls) {
		return calls.stream().map(Call::failure).filter(Objects::nonNull).findFirst().orElse(null);
	}

	private static void fail(List<Journey> journeys, JedisException failure) {
		journeys.forEach((journey) -> journey.call().fail(failure));
	}

	/**
	 * Takes one round trip.
	 * @return those that have to travel on
	 */
	private List<Journey> travel(List<Journey> journeys) {
		Map<HostAndPort, NodeTrip> trips = new TreeMap<>(ORDER);
		for (Journey journey : journeys) {
			trips.computeIfAbsent(journey.node(), (node) -> new NodeTrip(node, this.topology)).add(journey);
		}
		List<Journey> further = new ArrayList<>();
		JedisException failure = null;
		try {
			// To all, or else nothing is sent to any of them.
			trips.values().forEach((trip) -> trip.connect(this.nodes));
			trips.values().forEach(NodeTrip::send);
			for (NodeTrip trip : trips.values()) {
				trip.receive(further, failure);
				if (failure == null && trip.failure() != null) {
					failure = trip.failure();
					Deadline.extend(ARRIVED);
				}
			}
		}
		catch (JedisException ex) {
			fail(journeys, ex);
		}
		finally {
			trips.values().forEach(NodeTrip::end);
		}
		return further;
	}

}
