package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.web.HttpMediaTypeNotAcceptableException;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.annotation.ExceptionHandlerMappingInfo;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.HandlerExceptionResolverComposite;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ServletInvocableHandlerMethod;

/**
 * Calls those exception handlers of the application that are declared for specific
 * exceptions. Finds them like Spring MVC, in the controller and then in advice, but
 * ignores handlers for all exceptions.
 */
final class SpecificExceptionHandlers extends ExceptionHandlerExceptionResolver {

	private final Map<Class<?>, ExceptionHandlerMethodResolver> ofControllers = new ConcurrentHashMap<>();

	/**
	 * Creates a resolver that supports the same arguments and results as that of the
	 * application.
	 */
	SpecificExceptionHandlers(ApplicationContext context) {
		setApplicationContext(context);
		context.getBeanProvider(HandlerExceptionResolver.class)
			.stream()
			.flatMap((resolver) -> (resolver instanceof HandlerExceptionResolverComposite composite)
					? composite.getExceptionResolvers().stream() : Stream.of(resolver))
			.filter(ExceptionHandlerExceptionResolver.class::isInstance)
			.map(ExceptionHandlerExceptionResolver.class::cast)
			.findFirst()
			.ifPresent(this::configureAs);
		afterPropertiesSet();
	}

	private void configureAs(ExceptionHandlerExceptionResolver other) {
		setContentNegotiationManager(other.getContentNegotiationManager());
		if (other.getArgumentResolvers() != null) {
			setArgumentResolvers(other.getArgumentResolvers().getResolvers());
		}
		if (other.getReturnValueHandlers() != null) {
			setReturnValueHandlers(other.getReturnValueHandlers().getHandlers());
		}
	}

	@Override
	protected @Nullable ServletInvocableHandlerMethod getExceptionHandlerMethod(@Nullable HandlerMethod handler,
			Exception ex, ServletWebRequest request) {
		List<MediaType> mediaTypes = mediaTypes(request);
		for (Throwable cause : Answer.chain(ex)) {
			ServletInvocableHandlerMethod found = find(handler, cause.getClass(), mediaTypes, request);
			if (found != null) {
				return found;
			}
		}
		return null;
	}

	private @Nullable ServletInvocableHandlerMethod find(@Nullable HandlerMethod handler,
			Class<? extends Throwable> type, List<MediaType> mediaTypes, ServletWebRequest request) {
		Class<?> controller = (handler != null) ? AopUtils.getTargetClass(handler.getBean()) : null;
		if (handler != null) {
			ExceptionHandlerMappingInfo mapping = find(
					this.ofControllers.computeIfAbsent(handler.getBeanType(), ExceptionHandlerMethodResolver::new),
					type, mediaTypes);
			if (mapping != null) {
				return method(handler.getBean(), mapping, request);
			}
		}
		for (Map.Entry<ControllerAdviceBean, ExceptionHandlerMethodResolver> advice : getExceptionHandlerAdviceCache()
			.entrySet()) {
			ExceptionHandlerMappingInfo mapping = advice.getKey().isApplicableToBeanType(controller)
					? find(advice.getValue(), type, mediaTypes) : null;
			if (mapping != null) {
				return method(advice.getKey().resolveBean(), mapping, request);
			}
		}
		return null;
	}

	private static @Nullable ExceptionHandlerMappingInfo find(ExceptionHandlerMethodResolver handlers,
			Class<? extends Throwable> type, List<MediaType> mediaTypes) {
		return mediaTypes.stream()
			.flatMap((mediaType) -> Stream.ofNullable(handlers.resolveExceptionMappingByExceptionType(type, mediaType)))
			.filter((mapping) -> mapping.getExceptionTypes()
				.stream()
				.anyMatch((named) -> named.isAssignableFrom(type) && !named.isAssignableFrom(RuntimeException.class)))
			.findFirst()
			.orElse(null);
	}

	private ServletInvocableHandlerMethod method(Object bean, ExceptionHandlerMappingInfo mapping,
			ServletWebRequest request) {
		if (!mapping.getProducibleTypes().isEmpty()) {
			request.setAttribute(HandlerMapping.PRODUCIBLE_MEDIA_TYPES_ATTRIBUTE, mapping.getProducibleTypes(),
					RequestAttributes.SCOPE_REQUEST);
		}
		return new ServletInvocableHandlerMethod(bean, mapping.getHandlerMethod(), getApplicationContext());
	}

	private List<MediaType> mediaTypes(ServletWebRequest request) {
		try {
			return getContentNegotiationManager().resolveMediaTypes(request);
		}
		catch (HttpMediaTypeNotAcceptableException ex) {
			return List.of(MediaType.ALL);
		}
	}

}
