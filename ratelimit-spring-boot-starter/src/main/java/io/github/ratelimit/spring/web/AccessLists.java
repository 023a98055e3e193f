package io.github.ratelimit.spring.web;

import java.util.List;

import io.github.ratelimit.spring.RateLimitExemption;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Clients that are always denied, and clients and requests that are never limited. A
 * client on both lists is denied.
 * <p>
 * Safe for use by several threads.
 */
final class AccessLists {

	private final AccessList allowed;

	private final AccessList denied;

	private final List<RateLimitExemption> exemptions;

	/**
	 * Creates lists. Their entries are identifiers with a value:
	 * {@code ip:203.0.113.0/24}, {@code user:admin} or {@code header:X-Api-Key:secret}.
	 * @param allowed clients that are never limited
	 * @param denied clients that are always denied
	 * @param identifiers finds the identifiers of requests
	 * @param exemptions decide which requests are never limited; may be empty
	 * @throws IllegalArgumentException if an entry is invalid
	 */
	public AccessLists(List<String> allowed, List<String> denied, RequestIdentifiers identifiers,
			List<RateLimitExemption> exemptions) {
		this.allowed = new AccessList(allowed, identifiers);
		this.denied = new AccessList(denied, identifiers);
		this.exemptions = List.copyOf(exemptions);
	}

	/**
	 * Returns whether all requests are limited.
	 * @return whether there are neither entries nor exemptions
	 */
	boolean isEmpty() {
		return this.allowed.isEmpty() && this.denied.isEmpty() && this.exemptions.isEmpty();
	}

	/**
	 * Returns whether a filter is needed for these lists, even without policies.
	 * @param userKnown whether the filter comes after the login
	 */
	boolean needFilter(boolean userKnown) {
		return userKnown ? this.denied.hasEntriesOfUsers() || allowUsers() : this.denied.hasEntriesOfAnybody();
	}

	/**
	 * Returns whether some clients are never limited that are known only after the login,
	 * so that policies before the login count them at first.
	 */
	boolean allowUsers() {
		return this.allowed.hasEntriesOfUsers();
	}

	/**
	 * Returns whether a request is limited.
	 * @param userKnown whether users have logged in by now
	 */
	Access access(HttpServletRequest request, boolean userKnown) {
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

	/** Whether a request is limited. */
	enum Access {

		/** It is denied, regardless of its limits. */
		DENIED,

		/** It is allowed, regardless of its limits. */
		UNLIMITED,

		/** Its limits decide. */
		LIMITED

	}

}
