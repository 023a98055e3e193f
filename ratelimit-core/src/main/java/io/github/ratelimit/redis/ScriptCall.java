package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;

/**
 * The keys and arguments of {@code driver.lua} for a request, as its head describes them.
 */
record ScriptCall(List<String> keys, List<String> arguments) {

	/** What of a request a call has the Redis keys of. */
	enum Scope {

		/** All, which is on one slot. */
		ALL,

		/** What is counted, but not the blocks. */
		COUNTS,

		/** The blocks, of a request with one identifier. */
		BLOCKS

	}

	static ScriptCall of(String operation, String handedInTime, RateLimitRequest request, RedisKeys keys, long now) {
		return of(operation, handedInTime, request, Scope.ALL, request.metadata(), keys, now);
	}

	/**
	 * Creates the call of a part of a request.
	 * @param text metadata, or what the operation wants in its place
	 */
	static ScriptCall of(String operation, String handedInTime, RateLimitRequest request, Scope scope, String text,
			RedisKeys keys, long now) {
		List<String> states = new ArrayList<>();
		List<Identifier> identifiers = new ArrayList<>();
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				states.add(keys.key(identifier, charge.policy()));
				if (!identifiers.contains(identifier)) {
					identifiers.add(identifier);
				}
			}
		}
		List<String> arguments = new ArrayList<>();
		arguments.add(operation);
		arguments.add(handedInTime);
		arguments.add(text);
		arguments.add(Integer.toString(states.size()));
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				int blocks = (scope == Scope.ALL) ? states.size() + 1 + identifiers.indexOf(identifier) : 0;
				addMeter(arguments, charge, blocks, now);
			}
		}
		if (scope == Scope.BLOCKS) {
			states.clear();
		}
		if (scope != Scope.COUNTS) {
			identifiers.forEach((identifier) -> states.add(keys.blocks(identifier)));
		}
		return new ScriptCall(states, arguments);
	}

	private static void addMeter(List<String> arguments, Charge charge, int blocks, long now) {
		Policy policy = charge.policy();
		List<Limit> limits = policy.limits();
		arguments.add(policy.algorithm().script());
		arguments.add(policy.name());
		arguments.add(Integer.toString(blocks));
		arguments.add(Long.toString(charge.cost()));
		arguments.add(policy.countDenied() ? "1" : "0");
		arguments.add(Integer.toString(limits.size()));
		for (Limit limit : limits) {
			arguments.add(Long.toString(limit.quota()));
			arguments.add(Long.toString(limit.windowMicros()));
		}
		List<String> options = (now < 0) ? List.of("") : List.of();
		arguments.add(Integer.toString(options.size()));
		arguments.addAll(options);
	}

}
