package io.github.ratelimit.spring.web;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ServletInvocableHandlerMethod;

/**
 * The application's exception handlers that are made for one kind of exceptions, rather
 * than for all.
 */
final class SpecificExceptionHandlers {

	/** Made at the first use, because it looks at all beans of the application. */
	private final SingletonSupplier<Chooser> chooser;

	SpecificExceptionHandlers(ApplicationContext context) {
		this.chooser = SingletonSupplier.of(() -> new Chooser(context));
	}

	/**
	 * Returns whether Spring MVC would choose such a handler for an exception.
	 */
	boolean exist(HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception ex) {
		Method method = this.chooser.obtain()
			.choose((handler instanceof HandlerMethod handlerMethod) ? handlerMethod : null, ex,
					new ServletWebRequest(request, response));
		if (method == null) {
			return false;
		}
		List<Throwable> causes = Causes.of(ex);
		return types(method).stream()
			.filter((type) -> causes.stream().anyMatch(type::isInstance))
			.anyMatch((type) -> !type.isAssignableFrom(RuntimeException.class));
	}

	/** Those of the annotation, or else of the parameters, as Spring MVC reads them. */
	private static List<Class<?>> types(Method method) {
		ExceptionHandler annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExceptionHandler.class);
		return (annotation != null && annotation.exception().length > 0) ? List.of(annotation.exception())
				: Arrays.stream(method.getParameterTypes()).filter(Throwable.class::isAssignableFrom).toList();
	}

	/** Chooses as Spring MVC does, but does not call. */
	private static final class Chooser extends ExceptionHandlerExceptionResolver {

		Chooser(ApplicationContext context) {
			setApplicationContext(context);
			afterPropertiesSet();
		}

		@Nullable Method choose(@Nullable HandlerMethod handler, Exception ex, ServletWebRequest request) {
			ServletInvocableHandlerMethod method = getExceptionHandlerMethod(handler, ex, request);
			return (method != null) ? method.getMethod() : null;
		}

	}

}
