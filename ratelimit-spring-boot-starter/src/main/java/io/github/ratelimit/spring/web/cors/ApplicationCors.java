package io.github.ratelimit.spring.web.cors;

import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.github.ratelimit.spring.SecurityFilters;
import io.github.ratelimit.spring.web.path.DispatcherServlets;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.http.HttpHeaders;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Applies the CORS configuration of the application, that of its {@link CorsFilter
 * filters} and of its handler mappings, to answers that are written before the
 * application applies it. Otherwise browsers would hide them from pages of other origins.
 * Knows which preflight requests it has answered.
 * <p>
 * Safe for use by several threads.
 */
public final class ApplicationCors {

	private static final Logger logger = LoggerFactory.getLogger(ApplicationCors.class);

	/** The filter of Spring Framework that only answers preflights; not in 7.0.1. */
	private static final String PRE_FLIGHT_FILTER = "org.springframework.web.filter.PreFlightRequestFilter";

	private final DispatcherServlets dispatchers = new DispatcherServlets();

	private final SecurityFilters security;

	/** Filters by their names in the container. */
	private final SingletonSupplier<Map<String, Filter>> registered;

	private final SingletonSupplier<List<HandlerMapping>> mappings;

	/**
	 * Creates an instance.
	 * @param beans those of the application, which are asked for with the first request
	 */
	public ApplicationCors(SecurityFilters security, ListableBeanFactory beans) {
		this.security = security;
		this.registered = SingletonSupplier.of(() -> registered(beans));
		this.mappings = SingletonSupplier
			.of(() -> beans.getBeanProvider(HandlerMapping.class).orderedStream().toList());
	}

	private static Map<String, Filter> registered(ListableBeanFactory beans) {
		Map<String, Filter> filters = new LinkedHashMap<>(beans.getBeansOfType(CorsFilter.class));
		for (FilterRegistrationBean<?> registration : beans.getBeansOfType(FilterRegistrationBean.class).values()) {
			if (registration.getFilter() instanceof CorsFilter filter) {
				filters.put(registration.getFilterName(), filter);
			}
		}
		return filters;
	}

	/** Returns the CORS filters that a request passes. */
	private List<Filter> filters(HttpServletRequest request) {
		Stream<Filter> secured = this.security.find(request).stream().filter(CorsFilter.class::isInstance);
		Stream<Filter> others = this.registered.obtain()
			.entrySet()
			.stream()
			.filter((filter) -> isPassed(filter.getKey(), request))
			.map(Map.Entry::getValue)
			.distinct();
		return Stream.concat(secured, others).toList();
	}

	private static boolean isPassed(String name, HttpServletRequest request) {
		FilterRegistration registration = request.getServletContext().getFilterRegistration(name);
		if (registration == null) {
			return false;
		}
		String pathInfo = request.getPathInfo();
		String path = (pathInfo != null) ? request.getServletPath() + pathInfo : request.getServletPath();
		return registration.getUrlPatternMappings().stream().anyMatch((pattern) -> matches(pattern, path))
				|| registration.getServletNameMappings().contains(request.getHttpServletMapping().getServletName());
	}

	/** Matches as defined by the Servlet specification (section 12.2). */
	private static boolean matches(String pattern, String path) {
		if (pattern.endsWith("/*")) {
			String prefix = pattern.substring(0, pattern.length() - 2);
			return path.equals(prefix) || path.startsWith(prefix + "/");
		}
		return pattern.equals(path) || (pattern.startsWith("*.") && path.endsWith(pattern.substring(1)));
	}

	/**
	 * Returns whether CORS code has allowed a preflight request, and nothing rejected it.
	 * Other servlets may set the same header.
	 */
	public boolean isAnswered(HttpServletRequest preflight, HttpServletResponse response) {
		return response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN)
				&& response.getStatus() < HttpServletResponse.SC_MULTIPLE_CHOICES
				&& (this.dispatchers.serve(preflight) || !filters(preflight).isEmpty()
						|| this.security.find(preflight)
							.stream()
							.anyMatch((filter) -> filter.getClass().getName().equals(PRE_FLIGHT_FILTER)));
	}

	/**
	 * Writes the headers that allow a page to read the response, if the application
	 * allows it.
	 * @return whether the response can still be written; if not, the application has
	 * answered the request: it has rejected the origin, or allowed a preflight request,
	 * without which the page could not read the answer to the request that follows
	 */
	public boolean apply(HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		for (Filter filter : filters(request)) {
			AtomicBoolean passed = new AtomicBoolean();
			filter.doFilter(request, response, (sameRequest, sameResponse) -> passed.set(true));
			if (!passed.get()) {
				return false;
			}
		}
		boolean writable = !this.dispatchers.serve(request) || applyOfHandler(request, response);
		boolean allowed = response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN);
		return writable && !(allowed && CorsUtils.isPreFlightRequest(request));
	}

	private boolean applyOfHandler(HttpServletRequest request, HttpServletResponse response) throws IOException {
		try {
			HandlerExecutionChain chain = findHandler(request);
			if (chain == null) {
				return true;
			}
			for (HandlerInterceptor interceptor : chain.getInterceptorList()) {
				if (interceptor instanceof CorsConfigurationSource) {
					return interceptor.preHandle(request, response, chain.getHandler());
				}
			}
		}
		catch (IOException ex) {
			throw ex;
		}
		catch (Exception ex) {
			// Spring MVC would reject the request, without headers too.
			logger.debug("No handler was found for a request of another origin", ex);
		}
		return true;
	}

	private @Nullable HandlerExecutionChain findHandler(HttpServletRequest request) throws Exception {
		HttpServletRequest lookup = new LookupRequest(request);
		ServletRequestPathUtils.parseAndCache(lookup);
		for (HandlerMapping mapping : this.mappings.obtain()) {
			HandlerExecutionChain chain = mapping.getHandler(lookup);
			if (chain != null) {
				return chain;
			}
		}
		return null;
	}

	/** Keeps the attributes that a look-up sets from the request. */
	private static final class LookupRequest extends HttpServletRequestWrapper {

		private final Map<String, @Nullable Object> attributes = new HashMap<>();

		LookupRequest(HttpServletRequest request) {
			super(request);
		}

		@Override
		public @Nullable Object getAttribute(String name) {
			return this.attributes.containsKey(name) ? this.attributes.get(name) : super.getAttribute(name);
		}

		@Override
		public void setAttribute(String name, @Nullable Object value) {
			this.attributes.put(name, value);
		}

		@Override
		public void removeAttribute(String name) {
			this.attributes.put(name, null);
		}

	}

}
