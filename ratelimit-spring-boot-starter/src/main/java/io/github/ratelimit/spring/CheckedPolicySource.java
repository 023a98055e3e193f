package io.github.ratelimit.spring;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import io.github.ratelimit.Policy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes only such answers of another source as can be enforced, and leaves the policy as
 * it was otherwise.
 */
final class CheckedPolicySource implements PolicySource {

	private static final Logger logger = LoggerFactory.getLogger(CheckedPolicySource.class);

	private final PolicySource source;

	private final Consumer<Policy> requireSupported;

	/** What is wrong with the answers about a policy, by its name. */
	private final Map<String, String> problems = new ConcurrentHashMap<>();

	/**
	 * Creates a source.
	 * @param source what is asked
	 * @param requireSupported refuses a policy that the store cannot hold
	 */
	CheckedPolicySource(PolicySource source, Consumer<Policy> requireSupported) {
		this.source = source;
		this.requireSupported = requireSupported;
	}

	@Override
	public IdentifiedPolicy current(IdentifiedPolicy configured) {
		String name = configured.policy().name();
		IdentifiedPolicy answer;
		try {
			answer = this.source.current(configured);
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
		if (!this.problems.isEmpty() && this.problems.remove(name) != null) {
			logger.info("The policy '{}' is as {} says again", name, this.source.getClass().getName());
		}
		return answer;
	}

	/** What is wrong with an answer; null if it can be enforced. */
	private @Nullable String problem(@Nullable IdentifiedPolicy answer, IdentifiedPolicy configured) {
		if (answer == null) {
			return "Invalid answer (null): must be a policy.";
		}
		String name = answer.policy().name();
		if (!name.equals(configured.policy().name())) {
			return "Invalid name (%s): must stay the same.".formatted(name);
		}
		if (!answer.identifiers().equals(configured.identifiers())) {
			return "Invalid identifiers %s: must stay the same, %s.".formatted(answer.identifiers(),
					configured.identifiers());
		}
		if (configured.plans().isEmpty() && !answer.plans().isEmpty()) {
			// They would have to be enforced later than they are, after the login.
			return "Invalid plans %s: the configured policy has none, and the first ones need a restart."
				.formatted(answer.plans().keySet());
		}
		if (!canBeMissing(answer.enforcement().missing(), configured.enforcement().missing())) {
			return "Invalid missing identifier (%s): must stay the same, or be skip, deny or ip."
				.formatted(((MissingIdentifier.Fallback) answer.enforcement().missing()).identifier());
		}
		try {
			answer.policies().forEach(this.requireSupported);
			return null;
		}
		catch (IllegalArgumentException ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	/** Others may be unknown, or be known only after the login. */
	private static boolean canBeMissing(MissingIdentifier missing, MissingIdentifier configured) {
		return !(missing instanceof MissingIdentifier.Fallback) || missing.equals(MissingIdentifier.ADDRESS)
				|| missing.equals(configured);
	}

	/** Says what is wrong, unless that is known; a message may differ each time. */
	private void report(String name, String problem, @Nullable RuntimeException failure) {
		if (!problem.equals(this.problems.put(name, problem))) {
			logger.warn("The policy '{}' stays as it is configured, for {} gave no policy that can be enforced: {}",
					name, this.source.getClass().getName(), (failure != null) ? failure.toString() : problem);
			logger.debug("The source of policies failed", failure);
		}
	}

}
