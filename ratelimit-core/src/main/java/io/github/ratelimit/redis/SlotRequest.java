package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.script.Scope;

/**
 * A request, or as much of one, as one call can decide because its Redis keys are on one
 * slot.
 *
 * @param request a request with some of the identifiers
 * @param scope which of their Redis keys the call has
 */
record SlotRequest(RateLimitRequest request, Scope scope) {

	/**
	 * Splits a request.
	 * @param slot the slot of an identifier
	 * @return the request itself if all of its Redis keys are on one slot
	 */
	static List<SlotRequest> split(RateLimitRequest request, Function<Identifier, Object> slot) {
		return split(request, Scope.ALL, slot);
	}

	/**
	 * Splits this for a slot that is moving to another node: several Redis keys cannot be
	 * used at once until all of them have arrived.
	 * @param blocks whether blocks are checked
	 */
	List<SlotRequest> byKey(boolean blocks) {
		List<SlotRequest> keys = new ArrayList<>();
		for (Charge charge : this.request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				keys.add(of(List.of(new Charge(charge.policy(), List.of(identifier), charge.cost(), charge.shadow())),
						Scope.COUNTS));
			}
		}
		if (blocks) {
			keys.addAll(split(this.request, Scope.BLOCKS, (identifier) -> identifier));
		}
		return keys;
	}

	/** Returns as much of this as some of its charges are. */
	SlotRequest of(List<Charge> charges) {
		return of(charges, this.scope);
	}

	private SlotRequest of(List<Charge> charges, Scope scope) {
		return new SlotRequest(new RateLimitRequest(charges, this.request.metadata()), scope);
	}

	private static List<SlotRequest> split(RateLimitRequest request, Scope scope, Function<Identifier, Object> slot) {
		SlotRequest whole = new SlotRequest(request, scope);
		Map<Object, List<Charge>> slots = new LinkedHashMap<>();
		for (Charge charge : request.charges()) {
			Map<Object, List<Identifier>> identifiers = new LinkedHashMap<>();
			for (Identifier identifier : charge.identifiers()) {
				identifiers.computeIfAbsent(slot.apply(identifier), (key) -> new ArrayList<>()).add(identifier);
			}
			identifiers.forEach((each, some) -> slots.computeIfAbsent(each, (key) -> new ArrayList<>())
				.add(new Charge(charge.policy(), some, charge.cost(), charge.shadow())));
		}
		return (slots.size() == 1) ? List.of(whole)
				: slots.values().stream().map((charges) -> whole.of(charges, scope)).toList();
	}

}
