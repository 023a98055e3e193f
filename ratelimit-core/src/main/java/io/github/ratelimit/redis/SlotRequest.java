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
import io.github.ratelimit.redis.script.Scope;

/**
 * A request, or a part of one, that one call can decide because its Redis keys are in one
 * slot.
 *
 * @param request a request with some of the identifiers
 * @param scope which of their Redis keys the call has
 */
record SlotRequest(RateLimitRequest request, Scope scope) {

	/**
	 * Splits this by slot.
	 * @param slot returns the slot of an identifier
	 * @return this itself if all of its Redis keys are in one slot
	 */
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
	 * Splits this by Redis key, for a slot that is moving to another node: until all of
	 * its Redis keys have arrived, no two can be used at once.
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

	/** Returns the same for some charges. */
	SlotRequest of(List<Charge> charges) {
		return new SlotRequest(this.request.withCharges(charges), this.scope);
	}

}
