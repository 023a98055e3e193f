package io.github.ratelimit.spring.method;

import java.util.List;

import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.policy.IdentifierNames;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;

/**
 * Logs limited methods that a scheduler calls without a request, so that the identifiers
 * of their policies are missing.
 */
final class ScheduledMethods implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(ScheduledMethods.class);

	private final RateLimitedOperations operations;

	ScheduledMethods(RateLimitedOperations operations) {
		this.operations = operations;
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		this.operations.all()
			.filter(ScheduledMethods::isScheduled)
			.forEach((operation) -> operation.policies().forEach((policy) -> look(operation, policy)));
	}

	private static boolean isScheduled(RateLimitedOperation operation) {
		return AnnotatedElementUtils.hasAnnotation(operation.method(), Scheduled.class)
				|| AnnotatedElementUtils.hasAnnotation(operation.method(), Schedules.class);
	}

	private static void look(RateLimitedOperation operation, IdentifiedPolicy policy) {
		if (policy.identifiers().stream().noneMatch(ScheduledMethods::isKnown)) {
			logger.warn(
					"{} is called by a scheduler, without a request: its policy '{}' by {} {}. Identify it by global",
					operation.place(), policy.policy().name(), policy.identifiers(),
					outcome(policy.enforcement().missing()));
		}
	}

	/** Returns whether an identifier is fully known without a request or a user. */
	private static boolean isKnown(String identifier) {
		List<String> parts = IdentifierNames.parts(identifier);
		return parts.stream()
			.allMatch((part) -> part.equals(IdentifierNames.GLOBAL) || IdentifierNames.isExpression(part));
	}

	private static String outcome(MissingIdentifier missing) {
		if (missing == MissingIdentifier.SKIP) {
			return "does not limit it";
		}
		return (missing == MissingIdentifier.DENY) ? "denies all such calls"
				: "counts all such calls together, as global";
	}

}
