package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.IdentifierResolver;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.policy.IdentifierNames;
import io.github.ratelimit.spring.policy.NearestNames;
import io.github.ratelimit.spring.policy.PolicyUse;
import io.github.ratelimit.spring.policy.UncountedRequests;
import io.github.ratelimit.spring.web.address.AddressResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Finds the identifiers of requests by their names in the configuration: {@code ip},
 * {@code user}, {@code header:NAME}, {@code cookie:NAME}, {@code path}, {@code method},
 * {@code global}, custom identifiers, and combinations of them joined by plus signs.
 * <p>
 * Safe for use by several threads.
 *
 * @since 0.1
 */
public final class RequestIdentifiers {

	private final AddressResolver addresses;

	private final Map<String, CustomIdentifier> custom = new TreeMap<>();

	private final Map<String, Kind> kinds = new ConcurrentHashMap<>();

	private final UncountedRequests uncounted = new UncountedRequests();

	/**
	 * Creates identifiers.
	 * @param addresses finds the addresses of clients
	 * @param custom custom identifiers, by name
	 * @throws IllegalArgumentException if a name is reserved or malformed
	 */
	RequestIdentifiers(AddressResolver addresses, Map<String, IdentifierResolver> custom) {
		this.addresses = addresses;
		custom.forEach((name, resolver) -> this.custom.put(IdentifierNames.requireUsable(name),
				new CustomIdentifier(name, resolver)));
	}

	/**
	 * Rejects an identifier that requests cannot have.
	 * @param name an identifier as in configuration
	 * @throws IllegalArgumentException if the identifier is unknown
	 */
	void requireKnown(String name) {
		kind(name);
	}

	/**
	 * Returns whether a policy, or a part of it, can be enforced only after the login.
	 * @param policy a policy with known identifiers
	 * @return whether one of its identifiers needs the user
	 */
	boolean needsUser(IdentifiedPolicy policy) {
		for (String name : policy.identifiers()) {
			if (needsUser(name)) {
				return true;
			}
		}
		return policy.enforcement().missing() instanceof MissingIdentifier.Fallback fallback
				&& needsUser(fallback.identifier());
	}

	boolean needsUser(String name) {
		return kind(name).needsUser();
	}

	/**
	 * Returns whether it is certain that requests without a user lack an identifier.
	 */
	boolean isMissingWithoutUser(String name) {
		for (String part : IdentifierNames.parts(name)) {
			CustomIdentifier own = this.custom.get(part);
			if (part.equals(IdentifierNames.USER) || (own != null && own.isMissingWithoutUser())) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Returns an identifier, with its address written as requests are counted by it.
	 * @param identifier any identifier
	 * @return the identifier; itself if it contains no address
	 * @throws IllegalArgumentException if requests are never counted by the address
	 */
	public Identifier counted(Identifier identifier) {
		return IdentifierNames.withAddress(identifier, this.addresses::counted);
	}

	/** Returns what finds the addresses of clients. */
	AddressResolver addresses() {
		return this.addresses;
	}

	/**
	 * Finds all identifiers of a request, or the one that its policy uses instead.
	 * @return the identifiers to count by; empty if the policy does not apply
	 * @throws CallerDeniedException if an identifier is missing that the policy requires
	 */
	List<Identifier> find(PolicyUse use, HttpServletRequest request) {
		return orFallback(find(use, (name) -> true, request), false, use, request);
	}

	/**
	 * Finds the identifiers that are known before the login. Uses the fallback of the
	 * policy only if no identifier needs the user.
	 * @throws CallerDeniedException if an identifier is missing that the policy requires
	 */
	List<Identifier> findBeforeLogin(PolicyUse use, HttpServletRequest request) {
		return needsUser(use.policy()) ? find(use, (name) -> !needsUser(name), request) : find(use, request);
	}

	/**
	 * Finds the identifiers that are known only after the login. Uses the fallback of the
	 * policy if there was no identifier before the login either.
	 * @param foundBefore whether an identifier was found before the login
	 * @throws CallerDeniedException if an identifier is missing that the policy requires
	 */
	List<Identifier> findAfterLogin(PolicyUse use, boolean foundBefore, HttpServletRequest request) {
		return orFallback(find(use, this::needsUser, request), foundBefore, use, request);
	}

	private List<Identifier> orFallback(List<Identifier> found, boolean foundBefore, PolicyUse use,
			HttpServletRequest request) {
		MissingIdentifier missing = use.policy().enforcement().missing();
		if (missing == MissingIdentifier.SKIP) {
			this.uncounted.note(use.policy(), foundBefore || !found.isEmpty());
		}
		else if (found.isEmpty() && !foundBefore && missing instanceof MissingIdentifier.Fallback fallback) {
			return fallback(fallback.identifier(), use.patterns(), request);
		}
		return found;
	}

	private List<Identifier> find(PolicyUse use, Predicate<String> included, HttpServletRequest request) {
		List<Identifier> identifiers = new ArrayList<>(2);
		for (String name : use.policy().identifiers()) {
			if (included.test(name)) {
				boolean found = hasExpression(name) ? add(withExpression(name, use, request), identifiers)
						: add(name, use.patterns(), request, identifiers);
				if (!found && use.policy().enforcement().deniesMissing()) {
					throw CallerDeniedException.lacks(name, use.policy().policy().name());
				}
			}
		}
		return identifiers;
	}

	private List<Identifier> fallback(String name, List<String> patterns, HttpServletRequest request) {
		List<Identifier> identifiers = new ArrayList<>(2);
		if (!add(name, patterns, request, identifiers)
				&& !add(IdentifierNames.ADDRESS, patterns, request, identifiers)) {
			identifiers.add(Identifier.GLOBAL);
		}
		return identifiers;
	}

	private static boolean hasExpression(String name) {
		return name.indexOf('#') >= 0 && IdentifierNames.parts(name).stream().anyMatch(IdentifierNames::isExpression);
	}

	/** Only annotations have expressions, and their methods serve one pattern at most. */
	private @Nullable Identifier withExpression(String name, PolicyUse use, HttpServletRequest request) {
		String pattern = use.patterns().isEmpty() ? null : use.patterns().get(0);
		return use.identify(name, (part) -> kind(part).find(request, pattern));
	}

	private static boolean add(@Nullable Identifier identifier, List<Identifier> identifiers) {
		if (identifier != null && !identifiers.contains(identifier)) {
			identifiers.add(identifier);
		}
		return identifier != null;
	}

	/**
	 * Adds an identifier. A path has several forms, so that several patterns may match;
	 * the identifier is found for each of them, so that a client cannot choose one.
	 */
	private boolean add(String name, List<String> patterns, HttpServletRequest request, List<Identifier> identifiers) {
		Kind kind = kind(name);
		if (patterns.isEmpty() || !kind.needsPattern()) {
			return add(kind.find(request, null), identifiers);
		}
		boolean found = false;
		for (String pattern : patterns) {
			found |= add(kind.find(request, pattern), identifiers);
		}
		return found;
	}

	/** Finds an identifier that does not depend on the path. */
	@Nullable Identifier find(String name, HttpServletRequest request) {
		return kind(name).find(request, null);
	}

	/** Finds an identifier, by the first of some patterns if it depends on the path. */
	@Nullable Identifier find(String name, List<String> patterns, HttpServletRequest request) {
		return kind(name).find(request, patterns.isEmpty() ? null : patterns.get(0));
	}

	private Kind kind(String name) {
		Kind known = this.kinds.get(name);
		return (known != null) ? known : this.kinds.computeIfAbsent(name, this::parse);
	}

	private Kind parse(String name) {
		List<Kind> parts = IdentifierNames.parts(name).stream().map((part) -> parsePart(part, name)).toList();
		if (parts.size() == 1) {
			return parts.get(0);
		}
		return new Kind(() -> parts.stream().anyMatch(Kind::needsUser), parts.stream().anyMatch(Kind::needsPattern),
				(request, pattern) -> combine(parts, request, pattern));
	}

	private Kind parsePart(String part, String name) {
		if (part.equals(IdentifierNames.ADDRESS)) {
			return Kind.of(part, this.addresses::resolve);
		}
		if (part.equals(IdentifierNames.USER)) {
			return new Kind(() -> true, false, (request, pattern) -> identifier(part, RequestValues.user(request)));
		}
		if (part.equals(IdentifierNames.PATH)) {
			return new Kind(() -> false, true, (request, pattern) -> identifier(part, pattern));
		}
		if (part.equals(IdentifierNames.METHOD)) {
			return Kind.of(part, RequestValues::method);
		}
		if (part.equals(IdentifierNames.GLOBAL)) {
			return new Kind(() -> false, false, (request, pattern) -> Identifier.GLOBAL);
		}
		String header = IdentifierNames.header(part);
		if (header != null) {
			return Kind.of(part, (request) -> request.getHeader(header));
		}
		String cookie = IdentifierNames.cookie(part);
		if (cookie != null) {
			return Kind.of(part, (request) -> RequestValues.cookie(cookie, request));
		}
		CustomIdentifier resolver = this.custom.get(part);
		if (resolver != null) {
			return new Kind(resolver::needsUser, false,
					(request, pattern) -> identifier(part, resolver.resolve(request)));
		}
		throw new IllegalArgumentException(
				"Invalid identifier (%s): must be ip, user, header:NAME, cookie:NAME, path, method, global%s, or several of them joined by '+'.%s"
					.formatted(name, this.custom.isEmpty() ? "" : ", " + String.join(", ", this.custom.keySet()),
							NearestNames.question(part, similar(part))));
	}

	/** Returns known names that an unknown part may be a misspelling of. */
	private List<String> similar(String part) {
		return Stream.concat(IdentifierNames.similar(part).stream(), this.custom.keySet().stream()).toList();
	}

	private static @Nullable Identifier identifier(String type, @Nullable String value) {
		return (value != null && !value.isBlank()) ? new Identifier(type, value) : null;
	}

	private static @Nullable Identifier combine(List<Kind> kinds, HttpServletRequest request,
			@Nullable String pattern) {
		List<Identifier> parts = new ArrayList<>(kinds.size());
		for (Kind kind : kinds) {
			Identifier part = kind.find(request, pattern);
			if (part == null) {
				return null;
			}
			parts.add(part);
		}
		return Identifier.combine(parts);
	}

	/**
	 * How an identifier is found. Whether it needs the user is evaluated late, because
	 * the bean that resolves it may not exist yet.
	 */
	private record Kind(BooleanSupplier user, boolean needsPattern, Finder finder) {

		static Kind of(String type, Value value) {
			return new Kind(() -> false, false, (request, pattern) -> identifier(type, value.of(request)));
		}

		boolean needsUser() {
			return this.user.getAsBoolean();
		}

		@Nullable Identifier find(HttpServletRequest request, @Nullable String pattern) {
			return this.finder.find(request, pattern);
		}

	}

	@FunctionalInterface
	private interface Finder {

		@Nullable Identifier find(HttpServletRequest request, @Nullable String pattern);

	}

	@FunctionalInterface
	private interface Value {

		@Nullable String of(HttpServletRequest request);

	}

}
