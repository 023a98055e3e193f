package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.Driver.Answer;
import io.github.ratelimit.redis.ScriptCall.Scope;
import redis.clients.jedis.exceptions.JedisException;

/**
 * What was decided of a part of a request.
 *
 * @param blocked for how long an identifier is still blocked, in microseconds
 * @param held when the cost was counted, in microseconds since the epoch; 0 if it was not
 * to be held
 */
record PartDecision(Part part, boolean allowed, long blocked, List<LimitStatus> statuses, long held) {

	/**
	 * Reads the answer.
	 * @param holds whether the cost was to be held
	 * @throws JedisException if there is none
	 */
	static PartDecision of(Answer answer, boolean holds) {
		Part part = answer.part();
		if (part.scope() == Scope.BLOCKS) {
			long blocked = ScriptReply.number(answer.call().reply());
			return new PartDecision(part, blocked == 0, blocked, List.of(), 0);
		}
		ScriptReply reply = ScriptReply.of(answer.call().reply());
		boolean allowed = reply.yesOrNo();
		long blocked = reply.number();
		List<LimitStatus> statuses = new ArrayList<>();
		for (Charge charge : part.request().charges()) {
			for (Identifier identifier : charge.identifiers()) {
				for (Limit limit : charge.policy().limits()) {
					statuses.add(LimitStatus.ofMicros(charge.policy(), identifier, limit, reply.number(),
							reply.number(), reply.numberOrNever()));
				}
			}
		}
		long held = holds ? reply.number() : 0;
		reply.end();
		return new PartDecision(part, allowed, blocked, statuses, held);
	}

	/**
	 * Whether policies that count denied requests count this, as far as is known here.
	 */
	boolean countsDenial() {
		return this.blocked == 0 && this.statuses.stream().allMatch((status) -> status.retryAfter() != null);
	}

	/**
	 * Prepares the call that gives back what was held, and tells how things stand then.
	 * @param denialCounts whether policies that count denied requests count this
	 * @return one call, or none if nothing has changed
	 */
	Stream<Answer> giveBack(Driver driver, boolean denialCounts) {
		List<Charge> charges = this.part.request()
			.charges()
			.stream()
			.map((charge) -> new Charge(charge.policy().withCountDenied(stays(charge, denialCounts)),
					charge.identifiers(), charge.cost()))
			.toList();
		if (this.part.scope() == Scope.BLOCKS
				|| (!this.allowed && charges.stream().allMatch((charge) -> charge.policy().countDenied()))) {
			return Stream.empty();
		}
		Part back = new Part(new RateLimitRequest(charges), this.part.scope());
		return Stream.of(new Answer(this.part, driver.call("return", back, Long.toString(this.held))));
	}

	/**
	 * The same of each Redis key, where several cannot be used at once because their slot
	 * is moving. The facts remain those of the part.
	 */
	List<PartDecision> byKey() {
		return this.part.byKey(false)
			.stream()
			.map((key) -> new PartDecision(key, this.allowed, this.blocked, this.statuses, this.held))
			.toList();
	}

	private boolean stays(Charge charge, boolean denialCounts) {
		boolean counted = this.allowed || (charge.policy().countDenied() && countsDenial());
		return !counted || (charge.policy().countDenied() && denialCounts);
	}

}
