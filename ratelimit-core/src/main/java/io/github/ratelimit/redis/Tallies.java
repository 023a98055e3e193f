package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.Batch.Session;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Protocol.Command;

/**
 * One attempt at a request or charge: counts, looks, and gives back what a denied request
 * has counted.
 */
final class Tallies {

	private static final Logger logger = LoggerFactory.getLogger(Tallies.class);

	private final List<Tally> tallies = new ArrayList<>();

	private final Moment moment;

	private Batch begun = new Batch();

	Tallies(RateLimitRequest request, RedisKeys keys, Moment moment, PastCounts pastCounts) {
		this.moment = moment;
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				this.tallies.add(PlainAlgorithm.tally(charge, identifier, keys, moment, pastCounts));
			}
		}
	}

	/** Whether there is something to count, and every limit could ever allow it. */
	static boolean isCountable(RateLimitRequest request) {
		return request.charges().stream().anyMatch((charge) -> charge.cost() > 0)
				&& request.charges().stream().allMatch(Tallies::isPossible);
	}

	private static boolean isPossible(Charge charge) {
		Policy policy = charge.policy();
		return policy.limits().stream().allMatch((limit) -> charge.cost() <= policy.algorithm().largestCost(limit));
	}

	/** Sends what counts everything, and reads how things stand then. */
	void beginToCount(Session session) {
		if (this.moment.handedIn()) {
			endWindows(session);
		}
		Batch batch = new Batch();
		for (Tally tally : this.tallies) {
			if (tally.counts()) {
				tally.count(batch);
			}
			else {
				tally.read(batch);
			}
		}
		begin(session, batch);
	}

	/** Sends what reads how things stand, and counts nothing. */
	void beginToLook(Session session) {
		Batch batch = new Batch();
		this.tallies.forEach((tally) -> tally.read(batch));
		begin(session, batch);
	}

	private void begin(Session session, Batch batch) {
		this.begun = batch;
		session.beginSurely(batch);
	}

	/** Takes in the answers to what was sent. */
	void end(Session session) {
		session.endSurely(this.begun);
	}

	/** A handed-in clock's: the server does not end them. */
	private void endWindows(Session session) {
		for (Tally tally : this.tallies) {
			if (tally instanceof FirstRequestWindowTally windows && tally.counts()) {
				windows.endWindows(session);
			}
		}
	}

	/** Whether something was to be counted in a Redis key that cannot be counted with. */
	boolean areDamaged() {
		return this.tallies.stream().anyMatch((tally) -> tally.counts() && !tally.damaged().isEmpty());
	}

	/** Replaces Redis keys that cannot be counted with. */
	void replaceDamaged(Session session) {
		List<Tally> damaged = this.tallies.stream()
			.filter((tally) -> tally.counts() && !tally.damaged().isEmpty())
			.toList();
		for (Tally tally : damaged) {
			List<String> keys = tally.damaged();
			Session.untilUnchanged(() -> tryReplace(session, tally, keys));
		}
	}

	/** Only what is still damaged: others may have replaced it, and counted since. */
	private static boolean tryReplace(Session session, Tally tally, List<String> keys) {
		Batch reads = new Batch();
		tally.read(reads);
		session.watch(keys, reads);
		Set<String> damaged = new HashSet<>(tally.damaged());
		damaged.retainAll(keys);
		if (damaged.isEmpty()) {
			return true;
		}
		Batch batch = new Batch();
		batch.add(Command.DEL, damaged.toArray(String[]::new));
		return session.transactUnlessChanged(batch);
	}

	/**
	 * Whether it may have been counted so late that others did not see it. What is only
	 * looked at is never late.
	 */
	boolean isLate(Moment now) {
		return this.moment.isOver(now) && this.tallies.stream().filter(Tally::counts).anyMatch(Tally::countsByTime);
	}

	/** Whether every limit allowed its cost before it was counted. */
	boolean isAllowed() {
		return this.tallies.stream().allMatch(Tally::isAllowed);
	}

	/** Takes back all that was counted. */
	void takeBack(Session session) {
		Returns returns = new Returns();
		this.tallies.forEach((tally) -> tally.giveBack(returns, tally.charge.cost(), true));
		returns.send(session);
	}

	/** Tells how things stand, after they were looked at. */
	List<LimitStatus> statuses() {
		List<LimitStatus> statuses = new ArrayList<>();
		this.tallies.forEach((tally) -> tally.addStatuses(statuses, false, false));
		return statuses;
	}

	/**
	 * Gives back what does not stay counted, and tells how things stand.
	 * @param allowed whether the request is allowed
	 */
	List<LimitStatus> settle(Session session, boolean allowed) {
		Returns returns = new Returns();
		List<LimitStatus> statuses = new ArrayList<>();
		for (Tally tally : this.tallies) {
			boolean stays = allowed || tally.policy().countDenied();
			if (!stays) {
				tally.giveBack(returns, tally.charge.cost(), true);
			}
			tally.addStatuses(statuses, stays && !allowed, stays);
		}
		finish(session, returns);
		return statuses;
	}

	/** Lets all that was counted stay so. */
	void keep(Session session) {
		finish(session, new Returns());
	}

	private void finish(Session session, Returns returns) {
		this.tallies.stream().filter(Tally::counts).forEach((tally) -> tally.repair(returns.others()));
		try {
			returns.send(session);
		}
		catch (RuntimeException ex) {
			// What was counted and decided stands: to forget it might admit what was
			// denied. Quota is held until the window ends, and others repair.
			logger.debug("Redis failed to end what a request has counted", ErrorText.withoutKeys(ex));
		}
	}

	/**
	 * Gives back what is used, and no more than the cost.
	 * @return whether that was done; if not, others have counted at the same moment
	 */
	boolean tryRefund(Session session) {
		Batch reads = new Batch();
		this.tallies.forEach((tally) -> tally.read(reads));
		session.watch(this.tallies.stream().flatMap((tally) -> tally.keys().stream()).toList(), reads);
		Returns returns = new Returns();
		this.tallies.forEach((tally) -> tally.giveBack(returns, tally.charge.cost(), false));
		return returns.sendUnlessWatchedKeysHaveChanged(session);
	}

}
