package io.github.ratelimit.spring.redis;

import java.io.Serial;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Thrown at startup if Redis cannot be used, and {@code ratelimit.redis.fail-fast} is
 * set.
 */
final class RedisUnusableException extends RuntimeException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String advice;

	/**
	 * Creates an exception.
	 * @param reason what Redis or the connection said
	 * @param server the server; {@code null} if the client is the application's
	 * @param advice what to do
	 * @param cause the failure; {@code null} if nothing has failed so far
	 */
	RedisUnusableException(String reason, @Nullable RedisServer server, String advice, @Nullable Throwable cause) {
		super("Redis cannot be used: %s%n%n    Server: %s%n    Property: %s%n%nThe application does not start without it, because ratelimit.redis.fail-fast is true."
			.formatted(reason, (server != null) ? server.connection() : "that of the client",
					(server != null) ? server.property() : ServerReader.OWN + ".client"),
				cause);
		this.advice = advice;
	}

	static final class Analyzer extends AbstractFailureAnalyzer<RedisUnusableException> {

		@Override
		protected FailureAnalysis analyze(Throwable rootFailure, RedisUnusableException cause) {
			return new FailureAnalysis(cause.getMessage(), cause.advice, cause);
		}

	}

}
