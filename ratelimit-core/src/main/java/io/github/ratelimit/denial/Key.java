package io.github.ratelimit.denial;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.RateLimitRequest;

/**
 * Whose counts are meant: policies of one name share them, whatever their quotas.
 */
record Key(String policy, Identifier identifier) {

	/** Returns the keys of a request, in its order. */
	static Key[] of(RateLimitRequest request) {
		int size = 0;
		for (Charge charge : request.charges()) {
			size += charge.identifiers().size();
		}
		Key[] keys = new Key[size];
		int at = 0;
		for (Charge charge : request.charges()) {
			for (Identifier identifier : charge.identifiers()) {
				keys[at++] = new Key(charge.policy().name(), identifier);
			}
		}
		return keys;
	}

}
