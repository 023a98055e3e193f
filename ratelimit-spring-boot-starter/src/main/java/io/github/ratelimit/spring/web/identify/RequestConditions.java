package io.github.ratelimit.spring.web.identify;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.PolicySettings;
import io.github.ratelimit.spring.decide.LoggedOnce;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * The conditions on requests under which policies apply, to paths and to method calls:
 * {@code when} and {@code unless}. If a condition fails, its policy applies. This is
 * logged once, without anything that a client has sent.
 * <p>
 * Safe for use by several threads.
 */
public final class RequestConditions {

	private final LoggedOnce warnings = new LoggedOnce(RequestConditions.class);

	private final Map<String, List<Condition>> conditions = new HashMap<>();

	/**
	 * Reads conditions.
	 * @param policies the properties of policies, by their names
	 * @param declared returns a condition in code by its name; {@code null} if the text
	 * is an expression
	 * @throws org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException
	 * if a condition could never be evaluated
	 */
	public RequestConditions(Map<String, PolicySettings> policies,
			Function<String, @Nullable Predicate<HttpServletRequest>> declared) {
		policies.forEach((name, policy) -> {
			List<Condition> conditions = new ArrayList<>();
			add(PolicyReader.property(name, ".when"), policy.when(), true, declared, conditions);
			add(PolicyReader.property(name, ".unless"), policy.unless(), false, declared, conditions);
			if (!conditions.isEmpty()) {
				this.conditions.put(name, conditions);
			}
		});
	}

	private static void add(String property, @Nullable String text, boolean wanted,
			Function<String, @Nullable Predicate<HttpServletRequest>> declared, List<Condition> conditions) {
		Predicate<HttpServletRequest> predicate = (text != null) ? declared.apply(text) : null;
		if (predicate != null) {
			conditions.add(new Condition(property, predicate::test, wanted));
		}
		else if (text != null) {
			RequestExpression expression = PolicyReader.read(property, text, () -> parse(text));
			conditions
				.add(new Condition(property, (request) -> expression.evaluate(request, null, Object.class), wanted));
		}
	}

	private static RequestExpression parse(String text) {
		RequestExpression expression = new RequestExpression(text);
		if (expression.needsUser()) {
			throw new IllegalArgumentException(
					"Invalid condition (%s): must not use the user, who is not known before the login; plans and ratelimit.allow can."
						.formatted(text));
		}
		if (expression.isConstant()) {
			throw new IllegalArgumentException(
					"Invalid condition (%s): must use #request or #query, or it would be the same for all requests."
						.formatted(text));
		}
		return expression;
	}

	/** Returns the names of the policies that do not apply to a request. */
	public Set<String> excluded(HttpServletRequest request) {
		return this.conditions.keySet().stream().filter((name) -> !apply(name, request)).collect(Collectors.toSet());
	}

	/** Returns whether a policy applies to a request. */
	public boolean apply(IdentifiedPolicy policy, HttpServletRequest request) {
		return apply(policy.policy().name(), request);
	}

	private boolean apply(String policy, HttpServletRequest request) {
		List<Condition> conditions = this.conditions.get(policy);
		return conditions == null
				|| conditions.stream().allMatch((condition) -> condition.allows(request, this.warnings));
	}

	/**
	 * A condition.
	 *
	 * @param property the name of its property
	 * @param value returns true or false
	 * @param wanted the value with which the policy applies
	 */
	private record Condition(String property, Function<HttpServletRequest, @Nullable Object> value, boolean wanted) {

		boolean allows(HttpServletRequest request, LoggedOnce warnings) {
			String problem;
			try {
				Object value = this.value.apply(request);
				if (value instanceof Boolean answer) {
					return answer == this.wanted;
				}
				problem = "its value is " + ((value != null) ? "a " + value.getClass().getName() : "null");
			}
			catch (RuntimeException ex) {
				problem = RequestExpression.reason(ex);
			}
			warnings.warn(this.property,
					"The condition {} failed, so that its policy applies: {}. It must be true or false. This is logged once",
					this.property, problem);
			return true;
		}

	}

}
