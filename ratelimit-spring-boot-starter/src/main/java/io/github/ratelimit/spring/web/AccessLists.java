package io.github.ratelimit.spring.web;

import java.util.List;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Clients that are never limited, and clients that are always denied. Who is on both
 * lists is denied.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class AccessLists {

	private final AccessList allowed;

	private final AccessList denied;

	private final boolean empty;

	/**
	 * Creates lists. Their entries are identifiers with a value:
	 * {@code ip:203.0.113.0/24}, {@code user:admin} or {@code header:X-Api-Key:secret}.
	 * @param allowed who is never limited
	 * @param denied who is always denied
	 * @param identifiers finds the identifiers of requests
	 * @throws IllegalArgumentException if an entry cannot be read
	 */
	public AccessLists(List<String> allowed, List<String> denied, RequestIdentifiers identifiers) {
		this.allowed = new AccessList(allowed, identifiers);
		this.denied = new AccessList(denied, identifiers);
		this.empty = allowed.isEmpty() && denied.isEmpty();
	}

	/**
	 * Returns whether a filter has to look at these lists.
	 * @param userKnown whether that filter comes after users have logged in
	 * @return whether there are clients to deny at that place
	 */
	public boolean denyAnybody(boolean userKnown) {
		return !this.empty && (userKnown ? this.denied.hasEntriesOfUsers() : this.denied.hasEntriesOfAnybody());
	}

	/**
	 * Returns whether some clients are never limited that are known only after they have
	 * logged in, so that policies before that count them at first.
	 * @return whether there are such clients
	 */
	public boolean allowUsers() {
		return !this.empty && this.allowed.hasEntriesOfUsers();
	}

	/**
	 * Returns how a request is to be treated.
	 * @param userKnown whether users have logged in by now
	 */
	Access access(HttpServletRequest request, boolean userKnown) {
		if (this.empty) {
			return Access.LIMITED;
		}
		if (this.denied.contains(request, userKnown)) {
			return Access.DENIED;
		}
		return this.allowed.contains(request, userKnown) ? Access.UNLIMITED : Access.LIMITED;
	}

	/** How a request is to be treated. */
	enum Access {

		/** Denied, whatever its limits say. */
		DENIED,

		/** Allowed, whatever its limits say. */
		UNLIMITED,

		/** As its limits say. */
		LIMITED

	}

}
