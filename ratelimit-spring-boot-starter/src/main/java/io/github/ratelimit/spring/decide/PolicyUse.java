package io.github.ratelimit.spring.decide;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;

/**
 * What a call or request uses of a policy, before its identifiers are found.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param cost what is used of each quota, 0 or more; 0 is always allowed, without the
 * store and also without identifiers
 * @param values the values of the expressions in the policy's identifiers, by their text,
 * which starts with {@code #}; one with no value, or a blank one, is missing
 * @param patterns the path patterns that the request matches; may be empty
 */
public record PolicyUse(IdentifiedPolicy policy, long cost, Map<String, String> values, List<String> patterns) {

	public PolicyUse {
		if (cost < 0) {
			throw new IllegalArgumentException("Invalid cost (%s): must not be negative.".formatted(cost));
		}
		values = Map.copyOf(values);
		patterns = List.copyOf(patterns);
	}

	/** Creates a use of a policy outside of path patterns. */
	public PolicyUse(IdentifiedPolicy policy, long cost, Map<String, String> values) {
		this(policy, cost, values, List.of());
	}

	/** Returns the same use of another policy, which has the same identifiers. */
	public PolicyUse withPolicy(IdentifiedPolicy policy) {
		return (policy == this.policy) ? this : new PolicyUse(policy, this.cost, this.values, this.patterns);
	}

	/** Returns the same use by a request that matches path patterns. */
	public PolicyUse withPatterns(List<String> patterns) {
		return new PolicyUse(this.policy, this.cost, this.values, patterns);
	}

	/**
	 * Finds an identifier by its name in the policy; {@code null} if it, or a part of it,
	 * is missing.
	 * @param others finds identifiers, or parts of them, that are not expressions
	 */
	public @Nullable Identifier identify(String name, Function<String, @Nullable Identifier> others) {
		return (name.indexOf('#') < 0) ? others.apply(name) : IdentifierNames.combined(name,
				(part) -> IdentifierNames.isExpression(part) ? ofValue(part) : others.apply(part));
	}

	private @Nullable Identifier ofValue(String part) {
		String value = this.values.get(part);
		return (value != null && !value.isBlank()) ? new Identifier(part, value) : null;
	}

}
