package io.github.ratelimit.spring.web;

import java.util.List;

import io.github.ratelimit.spring.config.RateLimitProperties.FilterProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * The orders of the filters that limit paths, before and after the login.
 *
 * @param security order of Spring Security's filter
 */
record FilterOrders(int beforeLogin, int afterLogin, int security) {

	private static final Logger logger = LoggerFactory.getLogger(FilterOrders.class);

	private static final String BEFORE_LOGIN = "ratelimit.filter.before-login-order";

	private static final String AFTER_LOGIN = "ratelimit.filter.after-login-order";

	private static final String SECURITY = "spring.security.filter.order";

	/** Order of Spring Security's filter chain, unless it is configured. */
	private static final int DEFAULT_SECURITY = -100;

	/** Distance of the filters from Spring Security's, unless they are configured. */
	private static final int DISTANCE = 10;

	/**
	 * Reads the orders.
	 * @throws InvalidConfigurationPropertyValueException if the second filter would not
	 * come after the first
	 */
	static FilterOrders read(FilterProperties properties, Environment environment) {
		int security = environment.getProperty(SECURITY, Integer.class, DEFAULT_SECURITY);
		Integer beforeLogin = properties.beforeLoginOrder();
		Integer afterLogin = properties.afterLoginOrder();
		FilterOrders orders = new FilterOrders((beforeLogin != null) ? beforeLogin : beside(security, -DISTANCE),
				(afterLogin != null) ? afterLogin : beside(security, DISTANCE), security);
		if (orders.afterLogin <= orders.beforeLogin) {
			throw new InvalidConfigurationPropertyValueException((afterLogin != null) ? AFTER_LOGIN : BEFORE_LOGIN,
					(afterLogin != null) ? afterLogin : beforeLogin,
					"%s (%s) must be greater than %s (%s): the second filter decides what the first one defers."
						.formatted(AFTER_LOGIN, orders.afterLogin, BEFORE_LOGIN, orders.beforeLogin));
		}
		return orders;
	}

	private static int beside(int order, int distance) {
		return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, (long) order + distance));
	}

	/**
	 * Rejects an order in which some policies would not know the user, and warns of one
	 * in which failed logins are not counted.
	 */
	void requireAfterSecurity(List<String> needUser) {
		if (this.afterLogin <= this.security && !needUser.isEmpty()) {
			throw new InvalidConfigurationPropertyValueException(AFTER_LOGIN, this.afterLogin,
					"Must be greater than %s (%s): the policies %s need the user, whom Spring Security logs in there."
						.formatted(SECURITY, this.security, needUser));
		}
		if (this.beforeLogin >= this.security) {
			logger.warn("Failed logins are not counted: {} ({}) is not less than {} ({})", BEFORE_LOGIN,
					this.beforeLogin, SECURITY, this.security);
		}
	}

}
