package io.github.ratelimit.spring.web;

import java.io.IOException;

import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.CallerDeniedException;
import io.github.ratelimit.spring.RateLimitExceededException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a request in which a method with {@code @RateLimited} was denied.
 */
@FunctionalInterface
interface Answer {

	void write(ServletPolicyEnforcer enforcer, HttpServletRequest request, HttpServletResponse response)
			throws IOException;

	/**
	 * Returns the answer to a request that failed.
	 * @param ex the exception, which may wrap what denied the request
	 * @return the answer; {@code null} if the request was not denied
	 */
	static @Nullable Answer to(Throwable ex) {
		RateLimitExceededException exceeded = Causes.find(RateLimitExceededException.class, ex);
		if (exceeded != null) {
			return (enforcer, request, response) -> enforcer.reject(exceeded.getDecision(), request, response);
		}
		if (Causes.find(CallerDeniedException.class, ex) != null) {
			return ServletPolicyEnforcer::forbid;
		}
		return (Causes.find(StoreException.class, ex) != null) ? ServletPolicyEnforcer::rejectWithoutDecision : null;
	}

}
