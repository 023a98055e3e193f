package io.github.ratelimit.spring.web;

import java.security.Principal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.PolicyUse;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Finds the identifiers of requests, as configuration names them: {@code ip},
 * {@code user}, {@code header:NAME}, {@code global}, and combinations of them joined by
 * plus signs.
 */
final class RequestIdentifiers {

	private static final String USER = "user";

	private static final Pattern HEADER = Pattern.compile("header:[!#$%&'*.^_`|~0-9A-Za-z-]+");

	private static final IdentifierResolver ADDRESS = new AddressResolver();

	private final Map<String, IdentifierResolver> resolvers = new ConcurrentHashMap<>();

	/**
	 * Finds all identifiers that a request has. If it has none of them it is counted by
	 * its address, rather than not at all.
	 */
	List<Identifier> find(PolicyUse use, HttpServletRequest request) {
		List<String> names = use.policy().identifiers();
		List<Identifier> identifiers = new ArrayList<>(names.size());
		for (String name : names) {
			Identifier identifier = use.identify(name, (part) -> resolver(part).resolve(request));
			if (identifier != null) {
				identifiers.add(identifier);
			}
		}
		if (identifiers.isEmpty()) {
			Identifier address = ADDRESS.resolve(request);
			identifiers.add((address != null) ? address : Identifier.GLOBAL);
		}
		return identifiers;
	}

	/** Returns whether an identifier is known only once the user has logged in. */
	static boolean needsUser(String name) {
		return Arrays.asList(name.split("\\+")).contains(USER);
	}

	IdentifierResolver resolver(String name) {
		return this.resolvers.computeIfAbsent(name, RequestIdentifiers::parse);
	}

	private static IdentifierResolver parse(String name) {
		List<IdentifierResolver> parts = Arrays.stream(name.split("\\+", -1))
			.map((part) -> parsePart(part, name))
			.toList();
		return (parts.size() == 1) ? parts.get(0) : (request) -> combine(parts, request);
	}

	private static IdentifierResolver parsePart(String part, String name) {
		if (part.equals("ip")) {
			return ADDRESS;
		}
		if (part.equals(USER)) {
			return RequestIdentifiers::user;
		}
		if (part.equals(Identifier.GLOBAL.type())) {
			return (request) -> Identifier.GLOBAL;
		}
		if (HEADER.matcher(part).matches()) {
			String header = part.substring(part.indexOf(':') + 1);
			return (request) -> header(part, request.getHeader(header));
		}
		throw new IllegalArgumentException(
				"Invalid identifier (%s): must be ip, user, header:NAME, global, or several of them joined by '+'."
					.formatted(name));
	}

	private static @Nullable Identifier user(HttpServletRequest request) {
		Principal principal = request.getUserPrincipal();
		return (principal != null && principal.getName() != null) ? Identifier.user(principal.getName()) : null;
	}

	private static @Nullable Identifier header(String type, @Nullable String value) {
		return (value != null && !value.isBlank()) ? Identifier.of(type, value) : null;
	}

	private static @Nullable Identifier combine(List<IdentifierResolver> resolvers, HttpServletRequest request) {
		List<Identifier> parts = new ArrayList<>(resolvers.size());
		for (IdentifierResolver resolver : resolvers) {
			Identifier part = resolver.resolve(request);
			if (part == null) {
				return null;
			}
			parts.add(part);
		}
		return Identifier.combine(parts);
	}

}
