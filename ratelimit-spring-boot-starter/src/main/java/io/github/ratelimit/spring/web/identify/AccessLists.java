package io.github.ratelimit.spring.web.identify;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import inet.ipaddr.IPAddress;
import inet.ipaddr.format.util.DualIPv4v6Tries;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.RateLimitExemption;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.web.address.AddressText;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Clients that are always denied, and clients and requests that are never limited. A
 * client on both lists is denied.
 * <p>
 * Safe for use by several threads, once its entries are added.
 */
public final class AccessLists {

	private final RequestIdentifiers identifiers;

	private final List<RateLimitExemption> exemptions;

	private final Clients allowed = new Clients();

	private final Clients denied = new Clients();

	AccessLists(RequestIdentifiers identifiers, List<RateLimitExemption> exemptions) {
		this.identifiers = identifiers;
		this.exemptions = List.copyOf(exemptions);
	}

	/**
	 * Adds a client that is never limited.
	 * @param entry an identifier with its value: {@code ip:203.0.113.0/24},
	 * {@code user:admin} or {@code header:X-Api-Key:secret}
	 * @throws IllegalArgumentException if the entry is invalid; the message lacks the
	 * value, which may be a secret
	 */
	void allow(String entry) {
		this.allowed.add(entry);
	}

	/** Adds a client that is always denied, as {@link #allow} does. */
	void deny(String entry) {
		this.denied.add(entry);
	}

	/** Returns whether there are neither entries nor exemptions. */
	public boolean isEmpty() {
		return this.allowed.isEmpty() && this.denied.isEmpty() && this.exemptions.isEmpty();
	}

	/**
	 * Returns whether a filter is needed for these lists, even without policies.
	 * @param userKnown whether the filter comes after the login
	 */
	public boolean needFilter(boolean userKnown) {
		return this.denied.hasEntries(userKnown) || (userKnown && this.allowed.hasEntries(true));
	}

	/**
	 * Returns whether a request is limited.
	 * @param userKnown whether users have logged in by now
	 */
	public Access access(HttpServletRequest request, boolean userKnown) {
		if (this.denied.contains(request, userKnown)) {
			return Access.DENIED;
		}
		return (this.allowed.contains(request, userKnown) || isExempt(request)) ? Access.UNLIMITED : Access.LIMITED;
	}

	private boolean isExempt(HttpServletRequest request) {
		for (RateLimitExemption exemption : this.exemptions) {
			if (exemption.exempts(request)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Returns whether a user is limited of whom nothing but the name is known.
	 * @param others whether everybody else is limited
	 */
	public Access access(String user, Access others) {
		if (others == Access.DENIED || this.denied.containsUser(user)) {
			return Access.DENIED;
		}
		return this.allowed.containsUser(user) ? Access.UNLIMITED : others;
	}

	/**
	 * Whether a request is denied or allowed regardless of its limits, or they decide.
	 */
	public enum Access {

		DENIED, UNLIMITED, LIMITED

	}

	/** A list of clients. The time of a look-up does not depend on its size. */
	private final class Clients {

		/** Loads many classes, which few applications need. */
		private @Nullable DualIPv4v6Tries addresses;

		/** The values of other identifiers, by their names. */
		private final Map<String, Set<String>> values = new LinkedHashMap<>();

		void add(String entry) {
			Identifier client = IdentifierNames.withValue(entry.strip());
			if (client == null) {
				throw new IllegalArgumentException(
						"Invalid entry: must be an identifier and its value, such as ip:203.0.113.0/24 or user:admin.");
			}
			String type = client.type();
			if (type.equals(IdentifierNames.ADDRESS)) {
				this.addresses = (this.addresses != null) ? this.addresses : new DualIPv4v6Tries();
				this.addresses.add(AddressText.block(client.value()));
				return;
			}
			AccessLists.this.identifiers.requireKnown(type);
			if (IdentifierNames.parts(type).size() > 1 || !IdentifierNames.tellsClientsApart(type)) {
				throw new IllegalArgumentException(
						"Invalid entry: must be of ip, user, header:NAME, cookie:NAME, query:NAME or an identifier of your own, not of %s."
							.formatted(type));
			}
			this.values.computeIfAbsent(type, (key) -> new HashSet<>()).add(client.value());
		}

		boolean isEmpty() {
			return this.addresses == null && this.values.isEmpty();
		}

		/** Returns whether there are entries that need the user, or others. */
		boolean hasEntries(boolean ofUsers) {
			return (!ofUsers && this.addresses != null)
					|| this.values.keySet().stream().anyMatch((type) -> needsUser(type) == ofUsers);
		}

		private boolean needsUser(String type) {
			return AccessLists.this.identifiers.needsUser(type);
		}

		boolean contains(HttpServletRequest request, boolean userKnown) {
			IPAddress address = (this.addresses != null) ? AccessLists.this.identifiers.addresses().address(request)
					: null;
			if (this.addresses != null && address != null && this.addresses.elementContains(address)) {
				return true;
			}
			for (Map.Entry<String, Set<String>> entry : this.values.entrySet()) {
				Identifier client = (userKnown || !needsUser(entry.getKey()))
						? AccessLists.this.identifiers.find(entry.getKey(), request) : null;
				if (client != null && entry.getValue().contains(client.value())) {
					return true;
				}
			}
			return false;
		}

		boolean containsUser(String name) {
			return this.values.getOrDefault(IdentifierNames.USER, Set.of()).contains(name);
		}

	}

}
