package io.github.ratelimit.spring.web;

import java.util.Set;
import java.util.function.Supplier;

import io.github.ratelimit.spring.decide.GivenIdentifiers;
import io.github.ratelimit.spring.decide.LoggedOnce;
import io.github.ratelimit.spring.decide.UnknownPolicyHandler;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.web.context.ServletContextAware;

/**
 * Knows the policies whose costs can be settled. Code settles costs with a request alone,
 * so this is found in its servlet context: a container that starts puts it there, and so
 * does the context of a test without a container.
 *
 * @param names supplies the names of all policies
 * @param handler is told of unknown policies
 */
record SettledPolicies(Supplier<Set<String>> names,
		UnknownPolicyHandler handler) implements ServletContextInitializer, ServletContextAware {

	private static final String ATTRIBUTE = SettledPolicies.class.getName();

	/** Returns the policies of a request; {@code null} if the limiter is off. */
	static @Nullable SettledPolicies of(ServletRequest request) {
		return (SettledPolicies) request.getServletContext().getAttribute(ATTRIBUTE);
	}

	/** Returns what logs each unknown policy once. */
	static UnknownPolicyHandler log() {
		LoggedOnce errors = new LoggedOnce(SettledPolicies.class);
		return (unknown) -> errors.error(unknown.toString(), "A true cost is not settled: {}", unknown.getMessage());
	}

	@Override
	public void onStartup(ServletContext context) {
		setServletContext(context);
	}

	@Override
	public void setServletContext(ServletContext context) {
		context.setAttribute(ATTRIBUTE, this);
	}

	/** Reports a policy that does not exist. */
	void requireKnown(String policy) {
		Set<String> names = this.names.get();
		if (!names.contains(policy)) {
			this.handler.handle(GivenIdentifiers.unknown(policy, names));
		}
	}

}
