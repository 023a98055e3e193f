package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import io.github.ratelimit.spring.RateLimitExceededException;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that is called for denied calls of another method.
 *
 * @param method the method, called on the object itself and not on its proxy
 * @param parameters number of parameters that it shares with the other method
 * @param takesException whether the exception follows them
 */
record Fallback(Method method, int parameters, boolean takesException) {

	static Fallback find(String name, Method method, Class<?> type) {
		List<Method> named = Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(type))
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isSynthetic())
			.filter((candidate) -> !candidate.equals(method))
			.filter((candidate) -> !KotlinDetector.isSuspendingFunction(candidate)
					|| KotlinDetector.isSuspendingFunction(method))
			.toList();
		List<Class<?>> parameters = parameters(method, type);
		// A fallback that takes the exception is preferred.
		for (int extra = 1; extra >= 0; extra--) {
			for (Method candidate : named) {
				List<Class<?>> own = parameters(candidate, type);
				if (own.size() == parameters.size() + extra && own.subList(0, parameters.size()).equals(parameters)
						&& (extra == 0 || own.get(parameters.size()) == RateLimitExceededException.class)
						&& ClassUtils.isAssignable(returned(method, type), returned(candidate, type))) {
					return new Fallback(candidate, parameters.size(), extra == 1);
				}
			}
		}
		String types = parameters.stream().map(Class::getTypeName).collect(Collectors.joining(", "));
		String signature = "%s %s(%s)".formatted(returned(method, type).getTypeName(), name, types);
		String longer = signature.replace(")", (types.isEmpty() ? "" : ", ") + "RateLimitExceededException)");
		throw new IllegalArgumentException(
				"Invalid fallbackMethod (%s): there must be a method '%s' or '%s' in %s, but there is %s."
					.formatted(name, signature, longer, type.getName(), named.isEmpty() ? "none of that name" : "only "
							+ named.stream().map(Method::toGenericString).sorted().collect(Collectors.joining(", "))));
	}

	/**
	 * Calls the fallback. The result of a suspend function is a publisher, as that of
	 * {@code MethodInvocation.proceed()}.
	 */
	@Nullable Object call(@Nullable Object target, @Nullable Object[] arguments, RateLimitExceededException ex) throws Throwable {
		List<@Nullable Object> own = new ArrayList<>(Arrays.asList(arguments).subList(0, this.parameters));
		if (this.takesException) {
			own.add(ex);
		}
		if (KotlinDetector.isSuspendingFunction(this.method)) {
			own.add(arguments[this.parameters]);
		}
		return AopUtils.invokeJoinpointUsingReflection(target, this.method, own.toArray());
	}

	private static Class<?> returned(Method method, Class<?> type) {
		return ResolvableType.forMethodReturnType(method, type).toClass();
	}

	private static List<Class<?>> parameters(Method method, Class<?> type) {
		return MethodExpression.parameters(method, type).stream().<Class<?>>map(ResolvableType::toClass).toList();
	}

}
