package io.github.ratelimit.redis;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.Driver.Answer;
import io.github.ratelimit.redis.ScriptCall.Scope;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A request that several calls decide, which are sent together. What they have counted is
 * taken back if one of them denies the request, or fails.
 */
final class SplitRequest {

	private static final Logger logger = LoggerFactory.getLogger(SplitRequest.class);

	private final Driver driver;

	private final RateLimitRequest request;

	SplitRequest(Driver driver, RateLimitRequest request) {
		this.driver = driver;
		this.request = request;
	}

	/** Decides without counting. */
	Decision peek(List<Part> parts) {
		return join(this.driver.send("peek", parts).stream().map((answer) -> PartDecision.of(answer, false)).toList(),
				List.of());
	}

	/** Decides, all or nothing. */
	Decision acquire(List<Part> parts) {
		List<PartDecision> held = new ArrayList<>();
		JedisException failure = null;
		for (Answer answer : this.driver.send("hold", parts)) {
			try {
				held.add(PartDecision.of(answer, true));
			}
			catch (JedisException ex) {
				failure = (failure != null) ? failure : ex;
			}
		}
		if (failure == null && held.stream().allMatch(PartDecision::allowed)) {
			return join(held, List.of());
		}
		boolean denialCounts = failure == null && held.stream().allMatch(PartDecision::countsDenial);
		List<PartDecision> returned = giveBack(held, denialCounts);
		if (failure != null) {
			throw failure;
		}
		return join(held, returned);
	}

	/**
	 * Gives back what was held, and does not stay counted because of the denial. What was
	 * decided stands if that fails: quota is held until the window ends.
	 * @return how the parts stand then
	 */
	private List<PartDecision> giveBack(List<PartDecision> held, boolean denialCounts) {
		List<PartDecision> returned = new ArrayList<>();
		for (Answer answer : sendBack(held, denialCounts)) {
			try {
				returned.add(PartDecision.of(answer, false));
			}
			catch (JedisException ex) {
				logger.debug("Redis failed to give back what a denied request has counted", ex);
			}
		}
		return returned;
	}

	/**
	 * What a node cannot do, because the slot is moving, is done Redis key by Redis key.
	 */
	private List<Answer> sendBack(List<PartDecision> held, boolean denialCounts) {
		List<Answer> answers = held.stream().flatMap((part) -> part.giveBack(this.driver, denialCounts)).toList();
		this.driver.send(answers.stream().map(Answer::call).toList());
		List<Part> moving = answers.stream()
			.filter((answer) -> Driver.isMoving(answer.call()) && answer.part().scope() == Scope.ALL)
			.map(Answer::part)
			.toList();
		if (moving.isEmpty()) {
			return answers;
		}
		List<Answer> all = new ArrayList<>(answers);
		all.removeIf((answer) -> moving.contains(answer.part()));
		all.addAll(sendBack(held.stream()
			.filter((part) -> moving.contains(part.part()))
			.flatMap((part) -> part.byKey().stream())
			.toList(), denialCounts));
		return all;
	}

	/**
	 * Puts a decision together.
	 * @param later how some of the parts stand by now
	 */
	private Decision join(List<PartDecision> parts, List<PartDecision> later) {
		Map<List<Object>, List<LimitStatus>> places = new HashMap<>();
		parts.forEach((part) -> places.putAll(byPlace(part.statuses())));
		later.forEach((part) -> places.putAll(byPlace(part.statuses())));
		List<LimitStatus> statuses = places.values().stream().flatMap(List::stream).toList();
		boolean allowed = parts.stream().allMatch(PartDecision::allowed);
		long blocked = parts.stream().mapToLong(PartDecision::blocked).max().orElse(0);
		return new Decision(allowed, ordered(this.request, statuses),
				(blocked > 0) ? Duration.of(blocked, ChronoUnit.MICROS) : null);
	}

	/** Puts statuses in the order of the request. */
	static List<LimitStatus> ordered(RateLimitRequest request, List<LimitStatus> statuses) {
		Map<List<Object>, List<LimitStatus>> places = byPlace(statuses);
		List<LimitStatus> ordered = new ArrayList<>();
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				ordered.addAll(places.getOrDefault(place(charge.policy(), identifier), List.of()));
			}
		}
		return ordered;
	}

	private static Map<List<Object>, List<LimitStatus>> byPlace(List<LimitStatus> statuses) {
		return statuses.stream()
			.collect(Collectors.groupingBy((status) -> place(status.policy(), status.identifier())));
	}

	private static List<Object> place(Policy policy, Identifier identifier) {
		return List.of(policy.name(), identifier);
	}

}
