package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Penalty;
import io.github.ratelimit.spring.MissingIdentifier;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.policy.RateLimitProperties.PenaltyProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Reads the penalty of a policy. Errors name the property and its value.
 */
public final class PenaltyReader {

	/** Valid instead of any other time. */
	private static final Duration SOME = Duration.ofSeconds(1);

	private PenaltyReader() {
	}

	/**
	 * Reads a penalty.
	 * @param property the name of the property
	 * @param properties its parts; {@code null} for no penalty
	 * @param identifiers what the policy counts by, and would block
	 * @param missing what it counts by if a request lacks these
	 */
	static @Nullable Penalty read(String property, @Nullable PenaltyProperties properties, List<String> identifiers,
			MissingIdentifier missing) {
		if (properties == null) {
			return null;
		}
		int after = require(property + ".after", properties.after());
		Duration within = require(property + ".within", properties.within());
		Duration block = require(property + ".block", properties.block());
		Duration upTo = (properties.upTo() != null) ? properties.upTo() : block;
		PolicyReader.read(property + ".after", after, () -> new Penalty(after, SOME, SOME, SOME));
		PolicyReader.read(property + ".within", within, () -> new Penalty(1, within, SOME, SOME));
		PolicyReader.read(property + ".block", block, () -> new Penalty(1, SOME, block, block));
		Penalty penalty = PolicyReader.read(property + ".up-to", upTo,
				() -> new Penalty(after, within, block, upTo, properties.mode() == Mode.SHADOW));
		return PolicyReader.read(property, penalty, () -> {
			requireApart(identifiers, missing);
			return penalty;
		});
	}

	/**
	 * Refuses identifiers that many clients have in common, also what the policy counts
	 * by if a request lacks them.
	 * @throws IllegalArgumentException if one of them does not tell clients apart
	 */
	static void requireApart(List<String> identifiers, MissingIdentifier missing) {
		requireApart(Stream.concat(identifiers.stream(), fallback(missing)).toList());
	}

	/** Returns whether all identifiers tell clients apart. */
	static boolean areApart(List<String> identifiers) {
		return identifiers.stream().allMatch(IdentifierNames::tellsClientsApart);
	}

	/**
	 * Refuses identifiers that many clients have in common: a penalty would block all of
	 * them.
	 * @param identifiers what a policy with a penalty counts by
	 * @throws IllegalArgumentException if one of them does not tell clients apart
	 */
	public static void requireApart(List<String> identifiers) {
		for (String identifier : identifiers) {
			if (!IdentifierNames.tellsClientsApart(identifier)) {
				throw new IllegalArgumentException(
						"Invalid identifier (%s): the penalty would block all clients at once; use identifiers that tell clients apart, such as ip or user."
							.formatted(identifier));
			}
		}
	}

	private static <T> T require(String property, @Nullable T value) {
		if (value == null) {
			throw new InvalidConfigurationPropertyValueException(property, null,
					"Must be set: a penalty needs after, within and block, such as after: 20, within: 1m, block: 15m.");
		}
		return value;
	}

	private static Stream<String> fallback(MissingIdentifier missing) {
		return (missing instanceof MissingIdentifier.Fallback other) ? Stream.of(other.identifier()) : Stream.empty();
	}

}
