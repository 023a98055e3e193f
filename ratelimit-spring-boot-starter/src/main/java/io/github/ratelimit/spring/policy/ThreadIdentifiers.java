package io.github.ratelimit.spring.policy;

import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.Enforcement;
import io.github.ratelimit.spring.MissingIdentifier;
import org.jspecify.annotations.Nullable;

import org.springframework.security.authentication.AuthenticationTrustResolver;
import org.springframework.security.authentication.AuthenticationTrustResolverImpl;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.util.ClassUtils;

/**
 * Finds the identifiers of a method call outside of a request.
 */
final class ThreadIdentifiers {

	private static final boolean SECURITY = ClassUtils.isPresent(
			"org.springframework.security.core.context.SecurityContextHolder",
			ThreadIdentifiers.class.getClassLoader());

	private static final UncountedRequests uncounted = new UncountedRequests();

	private ThreadIdentifiers() {
	}

	/**
	 * Returns the identifiers of a call, or those that its policy uses for missing ones;
	 * empty if the policy does not apply.
	 */
	static List<Identifier> find(PolicyUse use) {
		Enforcement enforcement = use.policy().enforcement();
		List<Identifier> identifiers = new ArrayList<>();
		for (String name : use.policy().identifiers()) {
			Identifier identifier = use.identify(name, ThreadIdentifiers::find);
			if (identifier != null) {
				identifiers.add(identifier);
			}
			else if (enforcement.deniesMissing()) {
				throw CallerDeniedException.lacks(name, use.policy().policy().name());
			}
		}
		if (identifiers.isEmpty() && enforcement.missing() instanceof MissingIdentifier.Fallback fallback) {
			Identifier identifier = find(fallback.identifier());
			identifiers.add((identifier != null) ? identifier : Identifier.GLOBAL);
		}
		if (enforcement.missing() == MissingIdentifier.SKIP) {
			uncounted.note(use.policy(), !identifiers.isEmpty());
		}
		return identifiers;
	}

	static void requireKnown(String name) {
		for (String part : IdentifierNames.parts(name)) {
			if (!part.equals(IdentifierNames.GLOBAL) && !(SECURITY && part.equals(IdentifierNames.USER))) {
				throw new IllegalArgumentException("Invalid identifier (%s): must be %s outside of web requests."
					.formatted(name, SECURITY ? "global or user" : "global"));
			}
		}
	}

	/** Returns an identifier; null if it is missing or unknown. */
	static @Nullable Identifier find(String name) {
		List<Identifier> parts = new ArrayList<>();
		for (String part : IdentifierNames.parts(name)) {
			Identifier identifier = findPart(part);
			if (identifier == null) {
				return null;
			}
			parts.add(identifier);
		}
		return Identifier.combine(parts);
	}

	private static @Nullable Identifier findPart(String part) {
		if (part.equals(IdentifierNames.GLOBAL)) {
			return Identifier.GLOBAL;
		}
		return (SECURITY && part.equals(IdentifierNames.USER)) ? SecurityUser.find() : null;
	}

	/** A separate class, because Spring Security is optional. */
	private static final class SecurityUser {

		private static final AuthenticationTrustResolver trust = new AuthenticationTrustResolverImpl();

		private SecurityUser() {
		}

		static @Nullable Identifier find() {
			Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
			if (authentication == null || !trust.isAuthenticated(authentication)) {
				return null;
			}
			String name = authentication.getName();
			return (name != null && !name.isBlank()) ? Identifier.user(name) : null;
		}

	}

}
