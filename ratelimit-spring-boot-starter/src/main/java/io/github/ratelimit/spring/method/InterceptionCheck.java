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
 * Refuses classes and proxies that some limited method cannot be intercepted in, and
 * warns of those that may be called by the wrong thread.
 */
final class InterceptionCheck {

	private static final Logger logger = LoggerFactory.getLogger(InterceptionCheck.class);

	private final RateLimitedOperations operations;

	/** Methods that were warned of. */
	private final Set<Method> told = ConcurrentHashMap.newKeySet();

	InterceptionCheck(RateLimitedOperations operations) {
		this.operations = operations;
	}

	/** Refuses a class of which no proxy could intercept all limited methods. */
	void requireProxyable(Class<?> proxied, boolean byClass) {
		Class<?> type = ClassUtils.getUserClass(proxied);
		Collection<RateLimitedOperation> operations = this.operations.of(proxied);
		if (Stream.of(Advice.class, Pointcut.class, Advisor.class, AopInfrastructureBean.class)
			.anyMatch((infrastructure) -> infrastructure.isAssignableFrom(type))) {
			throw invalid(operations, "calls of beans that intercept others cannot be intercepted themselves.");
		}
		if (!byClass) {
			return;
		}
		if (Modifier.isFinal(type.getModifiers()) || type.isSealed()) {
			throw invalid(operations,
					"the class is %s, so its calls cannot be intercepted; open it, or let it implement an interface and set spring.aop.proxy-target-class=false."
						.formatted(type.isSealed() ? "sealed" : "final"));
		}
		for (RateLimitedOperation operation : operations) {
			if (Modifier.isFinal(operation.method().getModifiers())) {
				throw InvalidRateLimitedException.of(operation.methodPlace(), RateLimitedOperations.NOT_INTERCEPTED);
			}
			if (!RateLimitedOperations.canBeOverridden(operation.method(), type)) {
				throw InvalidRateLimitedException.of(operation.methodPlace(),
						"%s is not visible in %s, so its calls cannot be intercepted; make it protected or public."
							.formatted(operation.method(), type.getName()));
			}
		}
	}

	/** Refuses a proxy that some limited method does not pass through. */
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
			// Nobody else can call the method, but its author expects that they do.
			if (!exposed && operation.onMethod()) {
				throw InvalidRateLimitedException.of(operation.methodPlace(),
						"it is in none of the interfaces by which %s is proxied; add it to one, or set spring.aop.proxy-target-class=true."
							.formatted(type.getName()));
			}
		}
	}

	private void requireSameLoader(Object proxy, Class<?> type) {
		for (RateLimitedOperation operation : this.operations.of(type)) {
			Method method = operation.method();
			boolean packagePrivate = (method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0;
			if (packagePrivate && proxy.getClass().getClassLoader() != method.getDeclaringClass().getClassLoader()) {
				throw InvalidRateLimitedException.of(operation.methodPlace(),
						"the class and its proxy have different class loaders, so calls of package-private methods cannot be intercepted; make it protected or public.");
			}
		}
	}

	/**
	 * Warns of methods that are often called by threads which do not know who is limited:
	 * the thread that calls is asked, and not the one that runs the method.
	 */
	void warnOfAsync(Class<?> type) {
		for (RateLimitedOperation operation : this.operations.of(type)) {
			Method method = operation.method();
			Set<String> identifiers = operation.identifiersOfThread();
			if (!identifiers.isEmpty()
					&& (AnnotatedElementUtils.hasAnnotation(method, Async.class)
							|| AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class))
					&& this.told.add(method)) {
				logger.warn(
						"{} is @Async and limited by {}: the thread that calls it must be that of a request. Calls from other threads, such as those of other @Async methods, lack this identifier; limit them by an argument instead",
						operation.methodPlace(), String.join(", ", identifiers));
			}
		}
	}

	static InvalidRateLimitedException invalid(Collection<RateLimitedOperation> operations, String reason) {
		return InvalidRateLimitedException.of(operations.iterator().next().place(), reason);
	}

}
