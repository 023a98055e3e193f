package io.github.ratelimit.spring.web;

import java.util.Collection;

import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.web.context.WebApplicationContext;

/**
 * Tells whether a servlet filter may authenticate users: that of Spring Security, or one
 * of the application. The filters are known when the container has started.
 * <p>
 * Safe for use by several threads.
 */
final class LoginFilters {

	private final WebApplicationContext context;

	private volatile @Nullable Boolean exist;

	LoginFilters(WebApplicationContext context) {
		this.context = context;
	}

	/**
	 * Returns whether there is a filter that may authenticate users, also if the filters
	 * are unknown. The first call must not come before
	 * {@link SmartInitializingSingleton#afterSingletonsInstantiated()}.
	 */
	boolean exist() {
		Boolean exist = this.exist;
		if (exist == null) {
			exist = this.context.containsBean(RateLimitWebAutoConfiguration.SECURITY_FILTER)
					|| mayAuthenticate(this.context.getServletContext());
			this.exist = exist;
		}
		return exist;
	}

	/** The context of a test without a container has no filters, not even our own. */
	private static boolean mayAuthenticate(@Nullable ServletContext servlets) {
		if (servlets == null) {
			return true;
		}
		Collection<? extends FilterRegistration> filters = servlets.getFilterRegistrations().values();
		return filters.stream().noneMatch(CredentialFilters::isOwn)
				|| filters.stream().anyMatch(CredentialFilters::mayInclude);
	}

}
