package io.github.ratelimit.spring.decide;

import java.util.Optional;
import java.util.function.Consumer;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.PolicySource;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.MissingIdentifier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts the results of another source only if they can be enforced; otherwise the
 * policy stays as configured. This is logged once for each policy, without anything that
 * may come from users.
 */
final class CheckedPolicySource implements PolicySource {

	private static final Logger logger = LoggerFactory.getLogger(CheckedPolicySource.class);

	/** About 1 MB. */
	private static final int MOST_ANSWERS = 2000;

	private final PolicySource source;

	private final Consumer<Policy> requireSupported;

	private final LoggedOnce warnings = new LoggedOnce(CheckedPolicySource.class);

	/** Problems of the policies that were returned; empty if there is none. */
	private final Cache<Policy, Optional<String>> checked = Caffeine.newBuilder()
		.executor(Runnable::run)
		.maximumSize(MOST_ANSWERS)
		.build();

	CheckedPolicySource(PolicySource source, Consumer<Policy> requireSupported) {
		this.source = source;
		this.requireSupported = requireSupported;
	}

	/**
	 * Returns a source whose results can be enforced. The policies that were read from
	 * the environment have been checked already.
	 */
	static PolicySource of(PolicySource source, Consumer<Policy> requireSupported) {
		return (source instanceof Decider.ReadSource) ? source : new CheckedPolicySource(source, requireSupported);
	}

	@Override
	public IdentifiedPolicy current(IdentifiedPolicy configured, Caller caller) {
		String name = configured.policy().name();
		IdentifiedPolicy answer;
		try {
			answer = this.source.current(configured, caller);
		}
		catch (RuntimeException ex) {
			report(name, ex.getClass().getName(), ex);
			return configured;
		}
		String problem = (answer != configured) ? problem(answer, configured) : null;
		if (problem != null) {
			report(name, problem, null);
			return configured;
		}
		return answer;
	}

	/** Returns the problem of a result; null if it can be enforced. */
	private @Nullable String problem(@Nullable IdentifiedPolicy answer, IdentifiedPolicy configured) {
		if (answer == null) {
			return "Invalid answer (null): must be a policy.";
		}
		String name = answer.policy().name();
		if (!name.equals(configured.policy().name())) {
			// Without the name, which may contain that of a user.
			return "Invalid name: must stay the same.";
		}
		if (!answer.identifiers().equals(configured.identifiers())) {
			return "Invalid identifiers %s: must stay the same, %s.".formatted(answer.identifiers(),
					configured.identifiers());
		}
		if (!canBeMissing(answer.enforcement().missing(), configured.enforcement().missing())) {
			return "Invalid missing identifier (%s): must stay the same, or be skip, deny or ip."
				.formatted(((MissingIdentifier.Fallback) answer.enforcement().missing()).identifier());
		}
		if (answer.policy().penalty() != null && !IdentifierNames.tellClientsApart(answer.identifiers())) {
			return "Invalid penalty: would block all clients at once, by the identifiers %s."
				.formatted(answer.identifiers());
		}
		for (Policy policy : answer.policies()) {
			String unsupported = unsupported(policy);
			if (unsupported != null) {
				return unsupported;
			}
		}
		return null;
	}

	/** Returns why the store does not support a policy; null if it does. */
	private @Nullable String unsupported(Policy policy) {
		return this.checked.get(policy, (unknown) -> {
			try {
				this.requireSupported.accept(unknown);
				return Optional.empty();
			}
			catch (IllegalArgumentException ex) {
				return Optional.of(String.valueOf(ex.getMessage()));
			}
		}).orElse(null);
	}

	/** Other identifiers may be unknown, or known only after the login. */
	private static boolean canBeMissing(MissingIdentifier missing, MissingIdentifier configured) {
		return !(missing instanceof MissingIdentifier.Fallback) || missing.equals(MissingIdentifier.ADDRESS)
				|| missing.equals(configured);
	}

	/** Logs no message of an exception, which may contain what users have sent. */
	private void report(String name, String problem, @Nullable RuntimeException failure) {
		this.warnings.warn(name,
				"The policy '{}' stays as configured, because {} returned a policy that cannot be enforced: {}. This is logged once",
				name, this.source.getClass().getName(), problem);
		logger.trace("The source of policies failed", failure);
	}

}
