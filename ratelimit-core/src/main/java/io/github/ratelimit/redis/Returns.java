package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PrimitiveIterator;

import io.github.ratelimit.redis.Batch.Session;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol.Command;

/**
 * Gives back what was counted. A count that another process has given back from, or
 * reset, in the meantime is put right afterwards if it has fallen below nothing.
 */
final class Returns {

	private final List<Return> returns = new ArrayList<>();

	private final Batch others = new Batch();

	/**
	 * What is given back to one counter.
	 *
	 * @param key Redis key of the counter
	 * @param cost what is given back
	 * @param ttlMillis time to live if the counter is gone
	 * @param nothing value of the counter when nothing is used
	 * @param window Redis key that holds {@code nothing} for as long as the window lasts
	 * that was counted in; {@code null} if the counter belongs to one window only
	 */
	record Return(String key, long cost, long ttlMillis, long nothing, @Nullable String window) {

		Return withCost(long cost) {
			return new Return(this.key, cost, this.ttlMillis, this.nothing, this.window);
		}

	}

	void add(Return part) {
		this.returns.add(part);
	}

	/** Commands that travel with what is given back. */
	Batch others() {
		return this.others;
	}

	/**
	 * Takes one round trip; two if a window is to be looked at first. If it is not
	 * executed, a window has mostly ended or was reset in the meantime, and the next time
	 * there is one less.
	 */
	void send(Session session) {
		Session.untilUnchanged(() -> trySend(session));
	}

	private boolean trySend(Session session) {
		dropWindowsThatAreOver(session);
		return sendUnlessWatchedKeysHaveChanged(session);
	}

	/**
	 * Takes one round trip.
	 * @return whether it was given back; if not, a watched key has changed
	 */
	boolean sendUnlessWatchedKeysHaveChanged(Session session) {
		if (this.returns.isEmpty() && this.others.isEmpty()) {
			return true;
		}
		Batch batch = new Batch();
		Map<Return, Reply> replies = new LinkedHashMap<>();
		for (Return part : this.returns) {
			if (part.window() == null) {
				// If the counter is gone, so that what is given back leaves nothing.
				batch.add(Command.SET, part.key(), Long.toString(part.cost()), "PX", Long.toString(part.ttlMillis()),
						"NX");
			}
			else {
				// Likewise, as when it was begun, so that it expires with its window.
				batch.add(Command.COPY, part.window(), part.key());
			}
			replies.put(part, batch.add(Command.DECRBY, part.key(), Long.toString(part.cost())));
		}
		batch.addAll(this.others);
		if (!session.transactUnlessChanged(batch)) {
			return false;
		}
		correct(session, replies);
		return true;
	}

	private void dropWindowsThatAreOver(Session session) {
		List<String> windows = this.returns.stream().map(Return::window).filter(Objects::nonNull).toList();
		if (!windows.isEmpty()) {
			Batch batch = new Batch();
			Reply values = batch.add(Command.MGET, windows.toArray(String[]::new));
			session.watch(windows, batch);
			PrimitiveIterator.OfLong nothings = Arrays.stream(values.counts()).iterator();
			this.returns.removeIf((part) -> part.window() != null && nothings.nextLong() != part.nothing());
		}
	}

	private static void correct(Session session, Map<Return, Reply> replies) {
		Returns correction = new Returns();
		replies.forEach((part, reply) -> {
			long below = part.nothing() - reply.count();
			if (reply.done() && part.cost() > 0 && below > 0) {
				correction.add(part.withCost(-Math.min(below, part.cost())));
			}
		});
		correction.send(session);
	}

}
