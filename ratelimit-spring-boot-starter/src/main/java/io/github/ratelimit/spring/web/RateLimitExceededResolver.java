package io.github.ratelimit.spring.web;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.github.ratelimit.spring.web.answer.Answer;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.core.annotation.Order;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.annotation.ResponseStatusExceptionResolver;
import org.springframework.web.servlet.mvc.support.DefaultHandlerExceptionResolver;

/**
 * Answers requests in which a call of a limited method was rejected. The exception may be
 * the cause of another.
 * <p>
 * Exception handlers of the application are called first, with a response that already
 * has {@code Retry-After} and the headers of the limits, which they may replace. Those of
 * Spring MVC are not: they know the exception around the denial alone.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class RateLimitExceededResolver implements HandlerExceptionResolver {

	private static final Logger logger = LoggerFactory.getLogger(RateLimitExceededResolver.class);

	private final LimitedResponses responses;

	/** Those of the application, in the order in which Spring MVC would ask them. */
	private final SingletonSupplier<List<HandlerExceptionResolver>> others;

	RateLimitExceededResolver(LimitedResponses responses, ListableBeanFactory beans) {
		this.responses = responses;
		this.others = SingletonSupplier
			.of(() -> BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, HandlerExceptionResolver.class, true, false)
				.values()
				.stream()
				.sorted(AnnotationAwareOrderComparator.INSTANCE)
				.dropWhile((resolver) -> resolver != this)
				.skip(1)
				.flatMap(RateLimitExceededResolver::flatten)
				.filter((resolver) -> !isDefault(resolver))
				.toList());
	}

	private static Stream<HandlerExceptionResolver> flatten(HandlerExceptionResolver resolver) {
		return (resolver instanceof HandlerExceptionResolverComposite composite)
				? composite.getExceptionResolvers().stream().flatMap(RateLimitExceededResolver::flatten)
				: Stream.of(resolver);
	}

	/** A subclass is a handler of the application. */
	private static boolean isDefault(HandlerExceptionResolver resolver) {
		return resolver.getClass() == ResponseStatusExceptionResolver.class
				|| resolver.getClass() == DefaultHandlerExceptionResolver.class;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		Answer answer = Answer.to(ex);
		if (answer == null) {
			return null;
		}
		if (response.isCommitted()) {
			return LimitedResponses.isError(response) ? new ModelAndView() : null;
		}
		this.responses.prepare(answer, response);
		HttpServletResponse replaceable = new ReplaceableResponse(response);
		for (HandlerExceptionResolver resolver : this.others.obtain()) {
			ModelAndView handled = resolver.resolveException(request, replaceable, handler, ex);
			if (handled != null) {
				return handled;
			}
		}
		try {
			this.responses.reject(answer, request, response);
		}
		catch (IOException unreachable) {
			logger.debug("The client could not be answered", unreachable);
		}
		return new ModelAndView();
	}

	/** Replaces headers of the limiter where a {@code ResponseEntity} adds them. */
	private final class ReplaceableResponse extends HttpServletResponseWrapper {

		private final Set<String> replaced = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

		ReplaceableResponse(HttpServletResponse response) {
			super(response);
		}

		@Override
		public void addHeader(String name, String value) {
			if (RateLimitExceededResolver.this.responses.writes(name) && this.replaced.add(name)) {
				super.setHeader(name, value);
			}
			else {
				super.addHeader(name, value);
			}
		}

	}

}
