package io.github.ratelimit.spring.web;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;

import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.PolicyReader;
import io.github.ratelimit.spring.expression.ReadOnlyExpression;
import io.github.ratelimit.spring.policy.RateLimitProperties.PolicyProperties;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.expression.spel.SpelEvaluationException;

/**
 * The conditions on requests under which policies apply, to paths and to method calls:
 * {@code when} and {@code unless}. If a condition fails, its policy applies. This is
 * logged once, without anything that a client has sent.
 * <p>
 * Safe for use by several threads.
 */
final class RequestConditions {

	private static final Logger logger = LoggerFactory.getLogger(RequestConditions.class);

	private final Map<String, List<Condition>> conditions = new HashMap<>();

	/**
	 * Reads conditions.
	 * @param policies the properties of policies, by their names
	 * @param declared returns a condition in code by its name; {@code null} if the text
	 * is an expression
	 * @throws org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException
	 * if a condition could never be evaluated
	 */
	RequestConditions(Map<String, PolicyProperties> policies,
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
		if (text != null) {
			Predicate<HttpServletRequest> predicate = declared.apply(text);
			conditions.add(new Condition(property, (predicate != null) ? predicate::test : expression(property, text),
					wanted, new AtomicBoolean()));
		}
	}

	private static Value expression(String property, String text) {
		ReadOnlyExpression expression = PolicyReader.read(property, text, () -> parse(text));
		return (request) -> expression.evaluate(Map.of(RequestVariables.REQUEST, request));
	}

	private static ReadOnlyExpression parse(String text) {
		ReadOnlyExpression expression = RequestVariables.parse(text);
		if (RequestVariables.needsUser(expression)) {
			throw new IllegalArgumentException(
					"Invalid condition (%s): must not use the user, who is not known before the login; plans and ratelimit.allow can."
						.formatted(text));
		}
		if (expression.variables().isEmpty()) {
			throw new IllegalArgumentException(
					"Invalid condition (%s): must use #request, or it would be the same for all requests."
						.formatted(text));
		}
		if (expression.type() != null && !expression.type().isAssignableFrom(Boolean.class)) {
			throw new IllegalArgumentException("Invalid condition (%s): must be true or false, but is a %s."
				.formatted(text, expression.type().getSimpleName()));
		}
		return expression;
	}

	boolean isEmpty() {
		return this.conditions.isEmpty();
	}

	/** Returns whether a policy applies to a request. */
	boolean apply(IdentifiedPolicy policy, HttpServletRequest request) {
		List<Condition> conditions = this.conditions.get(policy.policy().name());
		return conditions == null || conditions.stream().allMatch((condition) -> condition.allows(request));
	}

	/**
	 * A condition.
	 *
	 * @param property the name of its property
	 * @param value returns true or false
	 * @param wanted the value with which the policy applies
	 * @param failed whether a failure was logged
	 */
	private record Condition(String property, Value value, boolean wanted, AtomicBoolean failed) {

		boolean allows(HttpServletRequest request) {
			try {
				Object value = this.value.of(request);
				if (value instanceof Boolean answer) {
					return answer == this.wanted;
				}
				report("its value is " + ((value != null) ? "a " + value.getClass().getName() : "null"));
			}
			catch (SpelEvaluationException ex) {
				report(ex.getClass().getName() + ' ' + ex.getMessageCode());
			}
			catch (RuntimeException ex) {
				report(ex.getClass().getName());
			}
			return true;
		}

		private void report(String reason) {
			if (this.failed.compareAndSet(false, true)) {
				logger.warn(
						"The condition {} failed, so that its policy applies: {}. It must be true or false. This is logged once",
						this.property, reason);
			}
		}

	}

	@FunctionalInterface
	private interface Value {

		@Nullable Object of(HttpServletRequest request);

	}

}
