package io.github.ratelimit.denial;

import java.util.List;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;

/**
 * The key of counts: policies of the same name share them, whatever their quotas.
 */
record Key(String policy, Identifier identifier) {

	/** Returns the keys of some charges of a request, in its order. */
	static Key[] of(List<Charge> charges) {
		int size = 0;
		for (Charge charge : charges) {
			size += charge.identifiers().size();
		}
		Key[] keys = new Key[size];
		int at = 0;
		for (Charge charge : charges) {
			for (Identifier identifier : charge.identifiers()) {
				keys[at++] = new Key(charge.policy().name(), identifier);
			}
		}
		return keys;
	}

}
