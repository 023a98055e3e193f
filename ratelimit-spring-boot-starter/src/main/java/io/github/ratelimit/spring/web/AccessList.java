package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import inet.ipaddr.IPAddress;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.policy.IdentifierNames;
import io.github.ratelimit.spring.web.address.AddressBlocks;
import jakarta.servlet.http.HttpServletRequest;

/**
 * A list of clients: {@code ip:203.0.113.0/24}, {@code user:admin} or
 * {@code header:X-Api-Key:secret}.
 */
final class AccessList {

	private final RequestIdentifiers identifiers;

	private final AddressBlocks addresses;

	private final Map<String, Set<String>> values = new LinkedHashMap<>();

	AccessList(List<String> entries, RequestIdentifiers identifiers) {
		this.identifiers = identifiers;
		List<String> blocks = new ArrayList<>();
		for (String entry : entries) {
			Identifier client = IdentifierNames.withValue(entry.strip());
			if (client == null) {
				throw invalid("must be an identifier and its value, such as ip:203.0.113.0/24 or user:admin.");
			}
			if (client.type().equals(IdentifierNames.ADDRESS)) {
				blocks.add(client.value());
			}
			else {
				requireOfClient(client.type());
				this.values.computeIfAbsent(client.type(), (key) -> new LinkedHashSet<>()).add(client.value());
			}
		}
		this.addresses = new AddressBlocks(blocks);
	}

	private void requireOfClient(String name) {
		this.identifiers.requireKnown(name);
		if (IdentifierNames.parts(name).size() > 1 || !IdentifierNames.tellsClientsApart(name)) {
			throw invalid("must be of ip, user, header:NAME, cookie:NAME or an identifier of your own, not of %s."
				.formatted(name));
		}
	}

	/** The message must not contain the value, which may be a secret. */
	private static IllegalArgumentException invalid(String rule) {
		return new IllegalArgumentException("Invalid entry: " + rule);
	}

	boolean isEmpty() {
		return this.addresses.isEmpty() && this.values.isEmpty();
	}

	/** Returns whether there are entries that can be compared before the login. */
	boolean hasEntriesOfAnybody() {
		return !this.addresses.isEmpty() || !this.values.keySet().stream().allMatch(this.identifiers::needsUser);
	}

	/** Returns whether there are entries that can be compared only after the login. */
	boolean hasEntriesOfUsers() {
		return this.values.keySet().stream().anyMatch(this.identifiers::needsUser);
	}

	/**
	 * Returns whether the client of a request is on this list.
	 * @param userKnown whether users have logged in by now
	 */
	boolean contains(HttpServletRequest request, boolean userKnown) {
		return containsAddress(request) || containsValue(request, userKnown);
	}

	private boolean containsAddress(HttpServletRequest request) {
		if (this.addresses.isEmpty()) {
			return false;
		}
		IPAddress address = this.identifiers.addresses().address(request);
		return address != null && this.addresses.contains(address);
	}

	private boolean containsValue(HttpServletRequest request, boolean userKnown) {
		for (Map.Entry<String, Set<String>> entry : this.values.entrySet()) {
			if (userKnown || !this.identifiers.needsUser(entry.getKey())) {
				Identifier identifier = this.identifiers.find(entry.getKey(), request);
				if (identifier != null && entry.getValue().contains(identifier.value())) {
					return true;
				}
			}
		}
		return false;
	}

}
