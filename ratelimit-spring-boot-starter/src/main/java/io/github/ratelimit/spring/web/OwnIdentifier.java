package io.github.ratelimit.spring.web;

import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.spring.IdentifierResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.expression.spel.SpelEvaluationException;

/**
 * An identifier of the application's own. Where it fails it is missing; the log says so
 * once, without anything that a client may have sent.
 */
final class OwnIdentifier {

	private static final Logger logger = LoggerFactory.getLogger(OwnIdentifier.class);

	private final String name;

	private final IdentifierResolver resolver;

	private final AtomicBoolean failed = new AtomicBoolean();

	OwnIdentifier(String name, IdentifierResolver resolver) {
		this.name = name;
		this.resolver = resolver;
	}

	boolean needsUser() {
		return this.resolver.needsUser();
	}

	@Nullable String resolve(HttpServletRequest request) {
		try {
			return this.resolver.resolve(request);
		}
		catch (RuntimeException ex) {
			if (this.failed.compareAndSet(false, true)) {
				logger.warn("The identifier {} fails, and counts as missing: {}. This is said once only", this.name,
						reason(ex));
			}
			return null;
		}
	}

	/** Messages of exceptions may quote what the client sent. */
	private static String reason(RuntimeException ex) {
		String type = ex.getClass().getName();
		return (ex instanceof SpelEvaluationException spel) ? type + ' ' + spel.getMessageCode() : type;
	}

}
