package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;

/**
 * A request, or a part of one, that one call can decide because its Redis keys are in one
 * slot.
 *
 * @param request a request with some of the identifiers
 * @param scope which of their Redis keys the call has
 */
record SlotRequest(RateLimitRequest request, Scope scope) {

	/** Returns the parts of a request in the slots of its Redis keys, usually one. */
	static List<SlotRequest> of(RateLimitRequest request, Servers servers, RedisKeys keys) {
		SlotRequest whole = new SlotRequest(request, Scope.ALL);
		return isWhole(request, servers) ? List.of(whole)
				: whole.split((identifier) -> servers.slot(keys.blocks(identifier)));
	}

	/** Returns whether all Redis keys of a request are certain to be in one slot. */
	static boolean isWhole(RateLimitRequest request, Servers servers) {
		List<Charge> charges = request.charges();
		return !servers.haveSlots() || (charges.size() == 1 && charges.get(0).identifiers().size() == 1);
	}

	/** Splits this by the slots of identifiers. */
	List<SlotRequest> split(Function<Identifier, Object> slot) {
		Map<Object, List<Charge>> slots = new LinkedHashMap<>();
		for (Charge charge : this.request.charges()) {
			Map<Object, List<Identifier>> identifiers = charge.identifiers()
				.stream()
				.collect(Collectors.groupingBy(slot, LinkedHashMap::new, Collectors.toList()));
			identifiers.forEach((key, some) -> slots.computeIfAbsent(key, (same) -> new ArrayList<>())
				.add(new Charge(charge.policy(), some, charge.cost(), charge.shadow())));
		}
		return (slots.size() == 1) ? List.of(this) : slots.values().stream().map(this::of).toList();
	}

	/**
	 * Splits this by Redis key: while a slot is moving, no two can be used at once.
	 * @param blocks whether blocks are checked
	 */
	List<SlotRequest> byKey(boolean blocks) {
		List<SlotRequest> keys = new ArrayList<>();
		for (Charge charge : this.request.charges()) {
			keys.addAll(new SlotRequest(of(List.of(charge)).request, Scope.COUNTS).byIdentifier());
		}
		if (blocks) {
			keys.addAll(new SlotRequest(this.request, Scope.BLOCKS).byIdentifier());
		}
		return keys;
	}

	List<SlotRequest> byIdentifier() {
		return split((identifier) -> identifier);
	}

	SlotRequest of(List<Charge> charges) {
		return new SlotRequest(this.request.withCharges(charges), this.scope);
	}

}
