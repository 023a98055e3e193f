package io.github.ratelimit.spring.web.identify;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.NearestNames;
import io.github.ratelimit.spring.decide.PolicyUse;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import io.github.ratelimit.spring.web.address.AddressResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the identifiers of requests by their {@linkplain IdentifierNames names}.
 * <p>
 * Safe for use by several threads.
 */
public final class RequestIdentifiers {

	private static final Logger logger = LoggerFactory.getLogger(RequestIdentifiers.class);

	/** Other words for {@code query}, as in {@code param:q}. */
	private static final Pattern PARAMETER = Pattern.compile("(?i)^(?:[a-z]+-)?(?:param|arg)[a-z]*:");

	private final AddressResolver addresses;

	/** Identifiers of the application. */
	private final Map<String, IdentifierKind> own;

	/** Identifiers that were asked for, by their names. */
	private final Map<String, IdentifierKind> kinds = new ConcurrentHashMap<>();

	RequestIdentifiers(AddressResolver addresses, Map<String, IdentifierKind> own) {
		this.addresses = addresses;
		this.own = new TreeMap<>(own);
		Stream.of(IdentifierNames.ADDRESS, IdentifierNames.USER).forEach(this::kind);
	}

	/**
	 * Rejects an identifier that requests cannot have.
	 * @return its name
	 * @throws IllegalArgumentException if the identifier is unknown
	 */
	public String requireKnown(String name) {
		if (IdentifierNames.parts(name).stream().anyMatch(IdentifierNames::isExpression)) {
			throw unknown(name, name);
		}
		kind(name);
		return name;
	}

	/**
	 * Returns whether a policy, or a part of it, can be enforced only after the login.
	 */
	public boolean needsUser(IdentifiedPolicy policy) {
		for (String name : policy.identifiers()) {
			if (needsUser(name)) {
				return true;
			}
		}
		return policy.enforcement().missing() instanceof MissingIdentifier.Fallback fallback
				&& needsUser(fallback.identifier());
	}

	public boolean needsUser(String name) {
		return kind(name).needsUser();
	}

	/**
	 * Returns an identifier, with its address written as requests are counted by it.
	 * @throws IllegalArgumentException if requests are never counted by the address
	 */
	public Identifier counted(Identifier identifier) {
		return IdentifierNames.withAddress(identifier, this.addresses::counted);
	}

	AddressResolver addresses() {
		return this.addresses;
	}

	/**
	 * Finds all identifiers of a request, or the fallback of its policy.
	 * @return the identifiers to count by; empty if the policy does not apply
	 * @throws CallerDeniedException if an identifier is missing that the policy requires
	 */
	public List<Identifier> find(PolicyUse use, HttpServletRequest request) {
		return orFallback(find(use, (name) -> true, request), false, use, request);
	}

	/**
	 * Finds the identifiers that are known before the login, as {@link #find} does. There
	 * is no fallback yet if others need the user.
	 */
	public List<Identifier> findBeforeLogin(PolicyUse use, HttpServletRequest request) {
		return needsUser(use.policy()) ? find(use, (name) -> !needsUser(name), request) : find(use, request);
	}

	/**
	 * Finds the identifiers that are known only after the login, as {@link #find} does.
	 * @param foundBefore whether others were found before, so that none is a fallback
	 */
	public List<Identifier> findAfterLogin(PolicyUse use, boolean foundBefore, HttpServletRequest request) {
		return orFallback(find(use, this::needsUser, request), foundBefore, use, request);
	}

	private List<Identifier> orFallback(List<Identifier> found, boolean foundBefore, PolicyUse use,
			HttpServletRequest request) {
		MissingIdentifier missing = use.policy().enforcement().missing();
		if (!foundBefore && found.isEmpty() && missing instanceof MissingIdentifier.Fallback fallback
				&& !add(fallback.identifier(), use, request, found)
				&& !add(IdentifierNames.ADDRESS, use, request, found)) {
			found.add(Identifier.GLOBAL);
		}
		return found;
	}

	private List<Identifier> find(PolicyUse use, Predicate<String> included, HttpServletRequest request) {
		List<Identifier> identifiers = new ArrayList<>(2);
		for (String name : use.policy().identifiers()) {
			if (included.test(name) && !add(name, use, request, identifiers)
					&& use.policy().enforcement().deniesMissing()) {
				throw CallerDeniedException.lacks(name, use.policy().policy().name());
			}
		}
		return identifiers;
	}

	/**
	 * Adds an identifier. A path has several forms, so that several patterns may match;
	 * the identifier is found for each of them, so that a client cannot choose one.
	 */
	private boolean add(String name, PolicyUse use, HttpServletRequest request, List<Identifier> identifiers) {
		IdentifierKind kind = kind(name);
		boolean found = false;
		int patterns = kind.needsPattern() ? use.patterns().size() : 0;
		for (int i = 0; i < Math.max(1, patterns); i++) {
			Identifier identifier = kind.finder()
				.find(request, (i < patterns) ? use.patterns().get(i) : null, use.values());
			found |= identifier != null;
			if (identifier != null && !identifiers.contains(identifier)) {
				identifiers.add(identifier);
			}
		}
		return found;
	}

	/** Finds an identifier that does not depend on the path. */
	public @Nullable Identifier find(String name, HttpServletRequest request) {
		return find(name, List.of(), request);
	}

	/** Finds an identifier, by the first of some patterns if it depends on the path. */
	public @Nullable Identifier find(String name, List<String> patterns, HttpServletRequest request) {
		return kind(name).finder().find(request, patterns.isEmpty() ? null : patterns.get(0), Map.of());
	}

	/**
	 * Finds all identifiers that policies name and the request has.
	 * @param pattern the path pattern of the request; {@code null} if there is none
	 * @param withUser whether to find those that need the user
	 * @return the identifiers by their names
	 */
	public Map<String, Identifier> findAll(@Nullable String pattern, boolean withUser, HttpServletRequest request) {
		boolean user = withUser && request.getUserPrincipal() != null;
		Map<String, Identifier> found = new HashMap<>();
		this.kinds.forEach((name, kind) -> {
			try {
				if (user || !kind.needsUser()) {
					found.computeIfAbsent(name, (key) -> kind.finder().find(request, pattern, Map.of()));
				}
			}
			catch (RuntimeException ex) {
				logger.debug("The identifier {} is missing on other threads, because it failed", name, ex);
			}
		});
		return found;
	}

	private IdentifierKind kind(String name) {
		IdentifierKind known = this.kinds.get(name);
		return (known != null) ? known : this.kinds.computeIfAbsent(name, this::parse);
	}

	private IdentifierKind parse(String name) {
		return IdentifierKind
			.combined(IdentifierNames.parts(name).stream().map((part) -> parsePart(part, name)).toList());
	}

	private IdentifierKind parsePart(String part, String name) {
		if (IdentifierNames.isExpression(part)) {
			return new IdentifierKind(() -> false, false,
					(request, pattern, values) -> IdentifierKind.identifier(part, values.get(part)));
		}
		IdentifierNames.Named named = IdentifierNames.named(part);
		if (named != null) {
			String field = named.name();
			return IdentifierKind.of(part, false, switch (named.source()) {
				case "header" -> (request) -> request.getHeader(field);
				case "cookie" -> (request) -> RequestValues.cookie(field, request);
				default -> (request) -> RequestValues.query(request).get(field);
			});
		}
		return switch (part) {
			case IdentifierNames.ADDRESS -> IdentifierKind.of(part, false, this.addresses::resolve);
			case IdentifierNames.USER -> IdentifierKind.of(part, true, RequestValues::user);
			case IdentifierNames.PATH -> new IdentifierKind(() -> false, true,
					(request, pattern, values) -> IdentifierKind.identifier(part, pattern));
			case IdentifierNames.METHOD -> IdentifierKind.of(part, false, RequestValues::method);
			case IdentifierNames.GLOBAL ->
				new IdentifierKind(() -> false, false, (request, pattern, values) -> Identifier.GLOBAL);
			default -> Optional.ofNullable(this.own.get(part)).orElseThrow(() -> unknown(part, name));
		};
	}

	private IllegalArgumentException unknown(String part, String name) {
		List<String> similar = Stream.concat(IdentifierNames.similar(part).stream(), this.own.keySet().stream())
			.toList();
		return new IllegalArgumentException(
				"Invalid identifier (%s): must be ip, user, header:NAME, cookie:NAME, query:NAME, path, method, global%s, or several of them joined by '+'.%s"
					.formatted(name, this.own.isEmpty() ? "" : ", " + String.join(", ", this.own.keySet()),
							NearestNames.question(PARAMETER.matcher(part).replaceFirst("query:"), similar)));
	}

}
