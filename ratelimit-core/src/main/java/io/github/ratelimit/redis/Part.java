package io.github.ratelimit.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.ScriptCall.Scope;

/**
 * What one call of a script decides of a request.
 */
record Part(RateLimitRequest request, Scope scope) {

	/**
	 * Splits a request into parts that lie on one slot each.
	 * @param slot the slot of an identifier
	 */
	static List<Part> bySlot(RateLimitRequest request, ToIntFunction<Identifier> slot) {
		if (request.charges().size() == 1 && request.charges().get(0).identifiers().size() == 1) {
			return List.of(new Part(request, Scope.ALL));
		}
		return split(request, Scope.ALL, slot::applyAsInt);
	}

	/**
	 * Splits the part of a slot that is moving to another node, where several Redis keys
	 * cannot be used at once until all of them have arrived.
	 * @param blocks whether blocks matter
	 */
	List<Part> byKey(boolean blocks) {
		List<Part> parts = new ArrayList<>();
		for (Charge charge : this.request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				parts.add(new Part(new RateLimitRequest(List.of(withIdentifiers(charge, List.of(identifier))),
						this.request.metadata()), Scope.COUNTS));
			}
		}
		if (blocks) {
			parts.addAll(split(this.request, Scope.BLOCKS, (identifier) -> identifier));
		}
		return parts;
	}

	private static List<Part> split(RateLimitRequest request, Scope scope, Function<Identifier, Object> place) {
		Map<Object, List<Charge>> places = new LinkedHashMap<>();
		for (Charge charge : request.charges()) {
			charge.identifiers()
				.stream()
				.collect(Collectors.groupingBy(place, LinkedHashMap::new, Collectors.toList()))
				.forEach((each, identifiers) -> places.computeIfAbsent(each, (key) -> new ArrayList<>())
					.add(withIdentifiers(charge, identifiers)));
		}
		if (places.size() == 1) {
			return List.of(new Part(request, scope));
		}
		return places.values()
			.stream()
			.map((charges) -> new Part(new RateLimitRequest(charges, request.metadata()), scope))
			.toList();
	}

	private static Charge withIdentifiers(Charge charge, List<Identifier> identifiers) {
		return new Charge(charge.policy(), identifiers, charge.cost());
	}

}
