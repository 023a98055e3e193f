package io.github.ratelimit.spring.web;

import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.spring.IdentifierResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.expression.spel.SpelEvaluationException;

/**
 * A custom identifier of the application. If its resolver fails, it is missing. This is
 * logged once, without anything that a client may have sent.
 */
final class CustomIdentifier {

	private static final Logger logger = LoggerFactory.getLogger(CustomIdentifier.class);

	private final String name;

	private final IdentifierResolver resolver;

	private final AtomicBoolean failed = new AtomicBoolean();

	CustomIdentifier(String name, IdentifierResolver resolver) {
		this.name = name;
		this.resolver = resolver;
	}

	boolean needsUser() {
		return this.resolver.needsUser();
	}

	/** Returns whether it is certain that requests without a user lack the identifier. */
	boolean isMissingWithoutUser() {
		if (this.resolver instanceof ExpressionResolver expression) {
			return expression.isMissingWithoutUser();
		}
		try {
			return this.resolver.needsUser();
		}
		catch (RuntimeException ex) {
			// It may be a bean of a request, and there is no request.
			return false;
		}
	}

	@Nullable String resolve(HttpServletRequest request) {
		try {
			return this.resolver.resolve(request);
		}
		catch (RuntimeException ex) {
			if (this.failed.compareAndSet(false, true)) {
				logger.warn("The identifier {} counts as missing, because its resolver failed: {}. This is logged once",
						this.name, reason(ex));
			}
			return null;
		}
	}

	/** The message of the exception may contain what the client has sent. */
	static String reason(RuntimeException ex) {
		String type = ex.getClass().getName();
		return (ex instanceof SpelEvaluationException spel) ? type + ' ' + spel.getMessageCode() : type;
	}

}
