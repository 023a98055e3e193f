package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.aopalliance.aop.Advice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

/**
 * Refuses classes and proxies with limited methods that cannot be intercepted, and warns
 * of methods that may be called by the wrong thread.
 */
final class InterceptionCheck {

	private static final Logger logger = LoggerFactory.getLogger(InterceptionCheck.class);

	private final RateLimitedOperations operations;

	/** Methods with a logged warning. */
	private final Set<Method> warned = ConcurrentHashMap.newKeySet();

	InterceptionCheck(RateLimitedOperations operations) {
		this.operations = operations;
	}

	/** Refuses a class if no proxy can intercept all of its limited methods. */
	void requireProxyable(Class<?> proxied, boolean byClass) {
		Class<?> type = ClassUtils.getUserClass(proxied);
		Collection<RateLimitedOperation> operations = this.operations.of(proxied);
		if (Stream.of(Advice.class, Pointcut.class, Advisor.class, AopInfrastructureBean.class)
			.anyMatch((infrastructure) -> infrastructure.isAssignableFrom(type))) {
			throw notIntercepted(operations, "calls of beans that intercept other beans cannot be intercepted",
					"move the method to another bean");
		}
		if (!byClass) {
			return;
		}
		if (Modifier.isFinal(type.getModifiers()) || type.isSealed()) {
			throw notIntercepted(operations,
					"the class is %s, so its calls cannot be intercepted"
						.formatted(type.isSealed() ? "sealed" : "final"),
					"make the class neither final nor sealed, or implement an interface and set spring.aop.proxy-target-class=false");
		}
		for (RateLimitedOperation operation : operations) {
			if (Modifier.isFinal(operation.method().getModifiers())) {
				throw InvalidRateLimitedException.notIntercepted(operation.methodPlace(), operation.method());
			}
			if (!RateLimitedOperations.canBeOverridden(operation.method(), type)) {
				throw InvalidRateLimitedException.notIntercepted(operation.methodPlace(),
						"%s is not visible in %s, so its calls cannot be intercepted".formatted(operation.method(),
								type.getName()),
						"make the method protected or public");
			}
		}
	}

	/** Refuses a proxy that does not intercept all limited methods. */
	void requireIntercepted(Object proxy) {
		Class<?> type = AopUtils.getTargetClass(proxy);
		if (!AopUtils.isJdkDynamicProxy(proxy)) {
			requireProxyable(type, true);
			requireSameLoader(proxy, type);
			return;
		}
		for (RateLimitedOperation operation : this.operations.of(type)) {
			Class<?>[] interfaces = proxy.getClass().getInterfaces();
			boolean exposed = Arrays.stream(interfaces)
				.flatMap((candidate) -> Arrays.stream(candidate.getMethods()))
				.anyMatch((candidate) -> candidate.getName().equals(operation.method().getName())
						&& AopUtils.getMostSpecificMethod(candidate, type).equals(operation.method()));
			// The method cannot be called through the proxy, but the annotation expects
			// it.
			if (!exposed && operation.onMethod()) {
				throw InvalidRateLimitedException.notIntercepted(operation.methodPlace(),
						"it is not in any interface of the proxy of %s".formatted(type.getName()),
						"add the method to one, or set spring.aop.proxy-target-class=true");
			}
		}
	}

	private void requireSameLoader(Object proxy, Class<?> type) {
		for (RateLimitedOperation operation : this.operations.of(type)) {
			Method method = operation.method();
			boolean packagePrivate = (method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0;
			if (packagePrivate && proxy.getClass().getClassLoader() != method.getDeclaringClass().getClassLoader()) {
				throw InvalidRateLimitedException.notIntercepted(operation.methodPlace(),
						"the class and its proxy have different class loaders, so calls of package-private methods cannot be intercepted",
						"make the method protected or public");
			}
		}
	}

	/**
	 * Warns of asynchronous methods that are often called by threads without the
	 * identifiers of the caller: the identifiers are those of the calling thread, not of
	 * the thread that runs the method.
	 */
	void warnOfAsync(Class<?> type) {
		for (RateLimitedOperation operation : this.operations.of(type)) {
			Method method = operation.method();
			Set<String> identifiers = operation.identifiersOfThread();
			if (!identifiers.isEmpty()
					&& (AnnotatedElementUtils.hasAnnotation(method, Async.class)
							|| AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class))
					&& this.warned.add(method)) {
				logger.warn(
						"{} is @Async and limited by {}: it must be called by the thread of a request. Calls from other threads, such as those of other @Async methods, lack this identifier; limit them by an argument instead",
						operation.methodPlace(), String.join(", ", identifiers));
			}
		}
	}

	static InvalidRateLimitedException notIntercepted(Collection<RateLimitedOperation> operations, String reason,
			String remedy) {
		return InvalidRateLimitedException.notIntercepted(operations.iterator().next().place(), reason, remedy);
	}

}
