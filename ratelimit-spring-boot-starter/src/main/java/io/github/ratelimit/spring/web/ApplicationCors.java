package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.http.HttpHeaders;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.cors.PreFlightRequestHandler;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.handler.ConversionServiceExposingInterceptor;
import org.springframework.web.servlet.i18n.LocaleChangeInterceptor;
import org.springframework.web.servlet.resource.ResourceUrlProviderExposingInterceptor;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Applies the CORS configuration of the application to answers that are written before
 * the application applies it. Otherwise browsers would hide them from pages of other
 * origins.
 * <p>
 * Calls the {@link CorsFilter filters} and handler mappings of the application, in their
 * order.
 * <p>
 * Safe for use by several threads.
 */
final class ApplicationCors {

	private static final Logger logger = LoggerFactory.getLogger(ApplicationCors.class);

	/** Interceptors that check no credentials. */
	private static final Set<Class<?>> HARMLESS = Set.of(LateUsers.class, ConversionServiceExposingInterceptor.class,
			ResourceUrlProviderExposingInterceptor.class, LocaleChangeInterceptor.class);

	/**
	 * Spring MVC adds interceptors that are nested in these, such as for static files.
	 */
	private static final Set<Class<?>> MAPPINGS = Set.of(AbstractHandlerMapping.class, AbstractUrlHandlerMapping.class);

	private final DispatcherServlets dispatchers = new DispatcherServlets();

	private final Function<HttpServletRequest, List<? extends Filter>> filters;

	private final Supplier<List<HandlerMapping>> mappings;

	/**
	 * Creates an instance.
	 * @param filters finds the filters that apply the configuration to a request; called
	 * at each use
	 * @param mappings finds the handler mappings of the application; called at each use
	 */
	public ApplicationCors(Function<HttpServletRequest, List<? extends Filter>> filters,
			Supplier<List<HandlerMapping>> mappings) {
		this.filters = filters;
		this.mappings = mappings;
	}

	/**
	 * Returns whether a preflight request reaches CORS code, unlike in other servlets.
	 */
	boolean mayAnswer(HttpServletRequest preflight) {
		return this.dispatchers.serve(preflight) || !this.filters.apply(preflight).isEmpty();
	}

	/**
	 * Returns whether a preflight request that passes all other filters is answered
	 * without a handler or an interceptor of the application.
	 */
	boolean isSureToAnswer(HttpServletRequest preflight) {
		return !this.filters.apply(preflight).isEmpty()
				|| (this.dispatchers.serve(preflight) && isSureToAnswerAsHandler(preflight));
	}

	private boolean isSureToAnswerAsHandler(HttpServletRequest preflight) {
		try {
			HandlerExecutionChain chain = findHandler(new LookupRequest(preflight));
			return chain != null && chain.getHandler() instanceof PreFlightRequestHandler
					&& chain.getInterceptorList().stream().noneMatch(ApplicationCors::mayBeOfApplication);
		}
		catch (Exception ex) {
			// Spring MVC would reject the request, perhaps in code of the application.
			return false;
		}
	}

	/** Returns true for one that may be, or may hide, one of the application. */
	private static boolean mayBeOfApplication(HandlerInterceptor interceptor) {
		Class<?> type = interceptor.getClass();
		Class<?> outer = type.getEnclosingClass();
		return !(interceptor instanceof CorsConfigurationSource) && !HARMLESS.contains(type)
				&& !(outer != null && MAPPINGS.contains(outer));
	}

	/** Returns whether a request comes from a page of another origin. */
	static boolean concerns(HttpServletRequest request) {
		try {
			return CorsUtils.isCorsRequest(request);
		}
		catch (IllegalArgumentException ex) {
			// No browser sends a malformed origin.
			return false;
		}
	}

	/**
	 * Writes the headers that allow a page to read the response, if the application
	 * allows it.
	 * @return whether the response can still be written; if not, the application has
	 * answered the request: it has rejected the origin, or allowed a preflight request,
	 * without which the page could not read the answer to the request that follows
	 */
	boolean apply(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
		for (Filter filter : this.filters.apply(request)) {
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
			HandlerExecutionChain chain = findHandler(new LookupRequest(request));
			return chain == null || applyOfHandler(chain, request, response);
		}
		catch (IOException ex) {
			throw ex;
		}
		catch (Exception ex) {
			// Spring MVC would reject the request, without headers too.
			logger.debug("No handler was found for a request of another origin", ex);
			return true;
		}
	}

	private @Nullable HandlerExecutionChain findHandler(HttpServletRequest request) throws Exception {
		ServletRequestPathUtils.parseAndCache(request);
		for (HandlerMapping mapping : this.mappings.get()) {
			HandlerExecutionChain chain = mapping.getHandler(request);
			if (chain != null) {
				return chain;
			}
		}
		return null;
	}

	private static boolean applyOfHandler(HandlerExecutionChain chain, HttpServletRequest request,
			HttpServletResponse response) throws Exception {
		for (HandlerInterceptor interceptor : chain.getInterceptorList()) {
			if (interceptor instanceof CorsConfigurationSource) {
				return interceptor.preHandle(request, response, chain.getHandler());
			}
		}
		return true;
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
