package io.github.ratelimit.spring.decide;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import org.jspecify.annotations.Nullable;

import org.springframework.security.authentication.AuthenticationTrustResolver;
import org.springframework.security.authentication.AuthenticationTrustResolverImpl;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.util.ClassUtils;

/**
 * Enforces policies on calls outside of requests. Their identifiers are expressions,
 * {@code global}, those of the {@linkplain CarriedCaller#current() caller} that was
 * carried over to the thread, and the user that Spring Security knows. All others are
 * missing: a call that has none is never counted with everybody else's, unless its policy
 * says so.
 */
public final class ThreadEnforcer implements PolicyEnforcer {

	private static final boolean SECURITY = ClassUtils.isPresent(
			"org.springframework.security.core.context.SecurityContextHolder", ThreadEnforcer.class.getClassLoader());

	private final Decider decider;

	private final LoggedOnce warnings = new LoggedOnce(ThreadEnforcer.class);

	/**
	 * Creates an enforcer.
	 * @param decider decides the calls
	 */
	public ThreadEnforcer(Decider decider) {
		this.decider = decider;
	}

	@Override
	public Supplier<Decided> prepare(List<PolicyUse> uses) {
		List<PolicyCharge> charges = uses.stream().map(this::charge).flatMap(Optional::stream).toList();
		return () -> this.decider.decide(charges);
	}

	@Override
	public Optional<PolicyCharge> charge(PolicyUse configured) {
		PolicyUse use = this.decider.current(configured, ThreadEnforcer::find);
		List<Identifier> identifiers = (use.cost() > 0) ? identifiers(use) : List.of();
		return identifiers.isEmpty() ? Optional.empty() : Optional
			.of(new PolicyCharge(use.policy(), new Charge(use.policy().policy(), identifiers, use.cost())));
	}

	private List<Identifier> identifiers(PolicyUse use) {
		Enforcement enforcement = use.policy().enforcement();
		List<Identifier> identifiers = new ArrayList<>();
		for (String name : use.policy().identifiers()) {
			Identifier identifier = use.identify(name, ThreadEnforcer::find);
			if (identifier != null) {
				identifiers.add(identifier);
			}
			else if (enforcement.deniesMissing()) {
				throw CallerDeniedException.lacks(name, use.policy().policy().name());
			}
		}
		if (identifiers.isEmpty() && enforcement.missing() instanceof MissingIdentifier.Fallback fallback) {
			Identifier identifier = Optional.ofNullable(find(fallback.identifier()))
				.orElseGet(() -> find(IdentifierNames.ADDRESS));
			if (identifier != null) {
				identifiers.add(identifier);
			}
			else if (enforcement.denies()) {
				String reason = "The call, which has no request, has none of the identifiers %s that the policy %s counts by; set them to global if such calls may share one count"
					.formatted(use.policy().identifiers(), use.policy().policy().name());
				// A request that waits for the call is answered with 403 and no reason.
				this.warnings.warn(use.policy().policy().name(), "{}. This is logged once", reason);
				throw new CallerDeniedException(reason);
			}
		}
		return identifiers;
	}

	/** Returns an identifier; null if it is missing or unknown. */
	private static @Nullable Identifier find(String name) {
		CarriedCaller carried = CarriedCaller.current();
		Identifier whole = (carried != null) ? carried.find(name) : null;
		if (whole != null) {
			return whole;
		}
		return IdentifierNames.combined(name, (part) -> findPart(part, carried));
	}

	private static @Nullable Identifier findPart(String part, @Nullable CarriedCaller carried) {
		if (part.equals(IdentifierNames.GLOBAL)) {
			return Identifier.GLOBAL;
		}
		Identifier known = (carried != null) ? carried.find(part) : null;
		if (known != null) {
			return known;
		}
		return (SECURITY && part.equals(IdentifierNames.USER)) ? SecurityUser.find() : null;
	}

	@Override
	public void requireSupported(Policy policy) {
		this.decider.requireSupported(policy);
	}

	@Override
	public void requireKnown(String identifier) {
		for (String part : IdentifierNames.parts(identifier)) {
			if (!part.equals(IdentifierNames.GLOBAL) && !(SECURITY && part.equals(IdentifierNames.USER))) {
				throw new IllegalArgumentException("Invalid identifier (%s): must be %s outside of web requests."
					.formatted(identifier, SECURITY ? "global or user" : "global"));
			}
		}
	}

	/** A separate class, because Spring Security is optional. */
	private static final class SecurityUser {

		private static final AuthenticationTrustResolver trust = new AuthenticationTrustResolverImpl();

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
