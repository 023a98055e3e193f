package io.github.ratelimit.spring.web.identify;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.spring.RateLimiterDecorator;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.config.PolicySettings;
import io.github.ratelimit.spring.decide.LoggedOnce;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Has the logs of policies with {@code metadata} keep it with each request that is
 * decided on the thread that serves it. A request has one metadata, that of all these
 * policies, cut to the longest that a log keeps. An expression that fails has none; this
 * is logged once, without anything that a client has sent.
 * <p>
 * Safe for use by several threads.
 */
public final class RequestMetadata implements RateLimiterDecorator {

	private final Map<String, RequestExpression> expressions = new HashMap<>();

	private final LoggedOnce warnings = new LoggedOnce(RequestMetadata.class);

	private final Supplier<@Nullable HttpServletRequest> current;

	/**
	 * Reads the expressions.
	 * @param policies the properties of policies, by their names
	 * @param current returns the request of the current thread; {@code null} for none
	 * @throws org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException
	 * if an expression could never be evaluated, or is the same for all requests
	 */
	public RequestMetadata(Map<String, PolicySettings> policies, Supplier<@Nullable HttpServletRequest> current) {
		this.current = current;
		policies.forEach((name, policy) -> {
			String text = policy.metadata();
			if (text != null) {
				this.expressions.put(name, PolicyReader.read(PolicyReader.property(name, ".metadata"), text,
						() -> RequestExpression.ofIdentifier(text)));
			}
		});
	}

	@Override
	public RateLimiter decorate(RateLimiter limiter) {
		return this.expressions.isEmpty() ? limiter : new DelegatingRateLimiter(limiter) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				return super.tryAcquire(withMetadata(request));
			}

		};
	}

	private RateLimitRequest withMetadata(RateLimitRequest request) {
		HttpServletRequest served = this.current.get();
		if (served == null) {
			return request;
		}
		Set<String> texts = new LinkedHashSet<>();
		for (Charge charge : request.charges()) {
			String text = text(charge.policy().name(), served);
			if (text != null && !text.isEmpty()) {
				texts.add(text);
			}
		}
		String metadata = String.join("; ", texts);
		return texts.isEmpty() ? request : request
			.withMetadata(metadata.substring(0, Math.min(metadata.length(), RateLimitRequest.MAX_METADATA_LENGTH)));
	}

	private @Nullable String text(String policy, HttpServletRequest request) {
		RequestExpression expression = this.expressions.get(policy);
		try {
			return (expression != null) ? expression.text(request) : null;
		}
		catch (RuntimeException ex) {
			this.warnings.warn(policy, "{} failed, so that its log keeps requests without it: {}. This is logged once",
					PolicyReader.property(policy, ".metadata"), RequestExpression.reason(ex));
			return null;
		}
	}

}
