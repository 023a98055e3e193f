package io.github.ratelimit.spring.web.answer;

import io.github.ratelimit.spring.decide.LoggedOnce;

/**
 * Warns of denied calls to other services that nobody has caught: once for each policy
 * and its limits, whether a request, a message or a GraphQL field is answered.
 * <p>
 * Safe for use by several threads.
 */
public final class UncaughtDenials {

	private final LoggedOnce warnings = new LoggedOnce(UncaughtDenials.class);

	/** Warns if such a call is the reason of the answer. */
	public void warn(Answer answer) {
		String denial = answer.outgoing();
		if (denial != null) {
			this.warnings.warn(subject(denial),
					"{}. Nobody has caught the exception, so that the service is unavailable to its caller. This is logged once",
					denial);
		}
	}

	/** Returns the policy and its limits, without the seconds to wait. */
	private static String subject(String denial) {
		int end = denial.indexOf(';');
		return (end >= 0) ? denial.substring(0, end) : denial;
	}

}
