package io.github.ratelimit.spring.web.identify;

import java.security.Principal;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import io.github.ratelimit.spring.expression.ReadOnlyExpression;
import io.github.ratelimit.spring.expression.ReadOnlyExpression.Variables;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * An expression on requests, which reads {@code #request}, {@code #query} and
 * {@code #principal}.
 * <p>
 * Safe for use by several threads.
 */
final class RequestExpression {

	private static final String REQUEST = "request";

	private static final String QUERY = "query";

	private static final String PRINCIPAL = "principal";

	/** The type of the principal depends on the login. */
	private static final Variables VARIABLES = new Variables(
			Map.of(REQUEST, HttpServletRequest.class, QUERY, Map.class, PRINCIPAL, Object.class),
			"the variables #principal, #query and #request", true);

	/** Members of a request that read its body. */
	private static final Set<String> OF_BODY = Set.of("parameter", "parameterMap", "parameterNames", "parameterValues",
			"inputStream", "reader", "part", "parts");

	/** Members of a request that need the user. */
	private static final Set<String> OF_USER = Set.of("userPrincipal", "getUserPrincipal", "remoteUser",
			"getRemoteUser", "authType", "getAuthType", "isUserInRole");

	/** Errors of expressions that read null: a value is missing, such as the user. */
	private static final Set<SpelMessage> MISSING = Set.of(SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
			SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED, SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

	private static final boolean SECURITY = ClassUtils.isPresent("org.springframework.security.core.Authentication",
			RequestExpression.class.getClassLoader());

	private final ReadOnlyExpression expression;

	/**
	 * Parses an expression.
	 * @throws IllegalArgumentException if it could never be evaluated, or reads the body
	 */
	RequestExpression(String text) {
		this.expression = ReadOnlyExpression.parse("expression", text, VARIABLES);
		for (String member : this.expression.membersOf(REQUEST)) {
			if (OF_BODY.contains(StringUtils.uncapitalize(member.replaceFirst("^get", "")))) {
				throw new IllegalArgumentException(
						"Invalid expression (%s): %s reads the body, which handlers would miss; #query has the parameters of the query, as #query['name']."
							.formatted(text, member));
			}
		}
	}

	/** Parses the expression of an identifier. */
	static RequestExpression ofIdentifier(String text) {
		RequestExpression expression = new RequestExpression(text);
		if (expression.isConstant()) {
			throw new IllegalArgumentException(
					"Invalid expression (%s): must use #request, #query or #principal, or it would be the same for everybody."
						.formatted(text));
		}
		return expression;
	}

	boolean isConstant() {
		return this.expression.variables().isEmpty();
	}

	/** Returns whether the value is the same for all requests of a user. */
	boolean isOfUserAlone() {
		return Set.of(PRINCIPAL).containsAll(this.expression.variables());
	}

	boolean needsUser() {
		return this.expression.variables().contains(PRINCIPAL) || this.expression.namesAny(OF_USER);
	}

	/** Returns the value as text; {@code null} if there is nothing to read. */
	@Nullable String text(HttpServletRequest request) {
		Object value;
		try {
			value = evaluate(request, request.getUserPrincipal(), Object.class);
		}
		catch (SpelEvaluationException ex) {
			if (MISSING.contains(ex.getMessageCode())) {
				return null;
			}
			throw ex;
		}
		// The text of other objects may contain their hash code, which always differs.
		if (value != null && !BeanUtils.isSimpleValueType(value.getClass())) {
			throw new IllegalStateException(
					"The value must be text or a number, but is a " + value.getClass().getName());
		}
		return (value != null) ? value.toString() : null;
	}

	<T> @Nullable T evaluate(HttpServletRequest request, @Nullable Principal user, Class<T> type) {
		Map<String, @Nullable Object> values = new HashMap<>();
		values.put(REQUEST, request);
		if (this.expression.variables().contains(QUERY)) {
			values.put(QUERY, RequestValues.query(request));
		}
		// The type is looked up only if Spring Security is there.
		values.put(PRINCIPAL, (SECURITY && user instanceof Authentication login) ? login.getPrincipal() : user);
		return this.expression.evaluate(values, type);
	}

	/** Returns why an evaluation failed, without what a client may have sent. */
	static String reason(RuntimeException ex) {
		String type = ex.getClass().getName();
		return (ex instanceof SpelEvaluationException spel) ? type + ' ' + spel.getMessageCode() : type;
	}

}
