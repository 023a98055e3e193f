package io.github.ratelimit.spring.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;

/**
 * What a call or request uses of a policy, before it is known who makes it.
 * <p>
 * A value; safe for use by several threads.
 *
 * @param policy the policy
 * @param cost what is used of each quota, 0 or more; a cost of 0 asks nobody, and is
 * never denied: neither by a limit, nor by a block, nor by a failing store, nor for want
 * of an identifier
 * @param values what the caller knows of identifiers already: the values of those parts
 * of the policy's identifiers that are expressions over the arguments of a method, by
 * their text, which starts with {@code #}; a part with no value, or a blank one, is
 * missing
 * @since 0.1
 */
public record PolicyUse(IdentifiedPolicy policy, long cost, Map<String, String> values) {

	/**
	 * Creates a use of a policy.
	 * @throws IllegalArgumentException if the cost is negative
	 */
	public PolicyUse {
		if (cost < 0) {
			throw new IllegalArgumentException("Invalid cost (%d): must not be negative.".formatted(cost));
		}
		values = Map.copyOf(values);
	}

	/**
	 * Creates a use of a policy whose caller knows of no identifiers.
	 * @param policy the policy
	 * @param cost what is used of each quota, 0 or more
	 * @throws IllegalArgumentException if the cost is negative
	 */
	public PolicyUse(IdentifiedPolicy policy, long cost) {
		this(policy, cost, Map.of());
	}

	/**
	 * Returns the same use of another policy.
	 * @param policy the policy, with the same identifiers
	 * @return a new use
	 */
	public PolicyUse withPolicy(IdentifiedPolicy policy) {
		return new PolicyUse(policy, this.cost, this.values);
	}

	/**
	 * Finds one of the policy's identifiers.
	 * @param name the identifier as the policy names it
	 * @param others finds identifiers, or parts of them, that are no expressions
	 * @return the identifier; {@code null} if it, or a part of it, is missing
	 */
	public @Nullable Identifier identify(String name, Function<String, @Nullable Identifier> others) {
		if (name.indexOf('#') < 0) {
			return others.apply(name);
		}
		List<Identifier> parts = new ArrayList<>();
		for (String part : IdentifierParts.of(name)) {
			Identifier identifier = IdentifierParts.isExpression(part) ? ofValue(part) : others.apply(part);
			if (identifier == null) {
				return null;
			}
			parts.add(identifier);
		}
		return Identifier.combine(parts);
	}

	private @Nullable Identifier ofValue(String part) {
		String value = this.values.get(part);
		return (value != null && !value.isBlank()) ? new Identifier(part, value) : null;
	}

}
