package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.Caller;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.Plan;
import io.github.ratelimit.spring.PolicySource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes only such answers of another source as can be enforced, and leaves the policy as
 * it was otherwise. The log says so once, without anything that the source may have said
 * of users, and once when there was no such answer for a minute: a source that fails for
 * some users only is not known to be well again.
 */
final class CheckedPolicySource implements PolicySource {

	private static final Logger logger = LoggerFactory.getLogger(CheckedPolicySource.class);

	/** About 1 MB. */
	private static final int MOST_ANSWERS = 2000;

	private static final long CALM = Duration.ofMinutes(1).toNanos();

	private final PolicySource source;

	private final Consumer<Policy> requireSupported;

	private final LongSupplier nanoTime;

	/** What is wrong with policies that were answered; empty if nothing is. */
	private final Cache<Policy, Optional<String>> checked = Caffeine.newBuilder()
		.executor(Runnable::run)
		.maximumSize(MOST_ANSWERS)
		.build();

	/** When the last wrong answer about a policy came, by its name. */
	private final Map<String, Long> problems = new ConcurrentHashMap<>();

	/**
	 * Creates a source.
	 * @param source what is asked
	 * @param requireSupported refuses a policy that the store cannot hold
	 * @param nanoTime the time, as of {@link System#nanoTime()}
	 */
	CheckedPolicySource(PolicySource source, Consumer<Policy> requireSupported, LongSupplier nanoTime) {
		this.source = source;
		this.requireSupported = requireSupported;
		this.nanoTime = nanoTime;
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
		answered(name);
		return answer;
	}

	/** What is wrong with an answer; null if it can be enforced. */
	private @Nullable String problem(@Nullable IdentifiedPolicy answer, IdentifiedPolicy configured) {
		if (answer == null) {
			return "Invalid answer (null): must be a policy.";
		}
		String name = answer.policy().name();
		if (!name.equals(configured.policy().name())) {
			// Not the name, which may be made of a user's.
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
		String unsupported = unsupported(answer.policy());
		for (Plan plan : answer.plans().values()) {
			if (unsupported == null && plan.policy() != null) {
				unsupported = unsupported(plan.policy());
			}
		}
		return unsupported;
	}

	/** Why the store cannot hold a policy; null if it can. Asked once for each policy. */
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

	/** Others may be unknown, or be known only after the login. */
	private static boolean canBeMissing(MissingIdentifier missing, MissingIdentifier configured) {
		return !(missing instanceof MissingIdentifier.Fallback) || missing.equals(MissingIdentifier.ADDRESS)
				|| missing.equals(configured);
	}

	/** Without the message of a failure, which may hold what users have sent. */
	private void report(String name, String problem, @Nullable RuntimeException failure) {
		if (this.problems.put(name, this.nanoTime.getAsLong()) == null) {
			logger.warn("The policy '{}' stays as it is configured, for {} gave no policy that can be enforced: {}",
					name, this.source.getClass().getName(), problem);
			logger.trace("The source of policies failed", failure);
		}
	}

	private void answered(String name) {
		Long last = this.problems.isEmpty() ? null : this.problems.get(name);
		if (last != null && this.nanoTime.getAsLong() - last >= CALM && this.problems.remove(name, last)) {
			logger.info("The policy '{}' is as {} says again", name, this.source.getClass().getName());
		}
	}

}
