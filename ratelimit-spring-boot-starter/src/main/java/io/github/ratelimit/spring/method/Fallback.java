package io.github.ratelimit.spring.method;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import io.github.ratelimit.spring.RateLimitExceededException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that is called for denied calls of another method.
 *
 * @param method the method, called on the object itself and not on its proxy
 * @param takesException whether the exception is its last parameter
 */
record Fallback(Method method, boolean takesException) {

	/**
	 * Finds the fallback of a method.
	 * @param name the name of the fallback
	 * @param method the limited method
	 * @param type the class of the object
	 */
	static Fallback find(String name, Method method, Class<?> type) {
		List<Method> named = Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(type))
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isSynthetic())
			.filter((candidate) -> !candidate.equals(method))
			.toList();
		List<Class<?>> parameters = parameters(method, type);
		// A fallback that takes the exception is preferred.
		for (int extra = 1; extra >= 0; extra--) {
			for (Method candidate : named) {
				if (candidate.getParameterCount() == parameters.size() + extra
						&& parameters(candidate, type).subList(0, parameters.size()).equals(parameters)
						&& (extra == 0 || takesExceptionLast(candidate)) && returnsWhat(method, candidate, type)) {
					ReflectionUtils.makeAccessible(candidate);
					return new Fallback(candidate, extra == 1);
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

	@Nullable Object call(Object target, @Nullable Object[] arguments, RateLimitExceededException ex) throws Throwable {
		Object[] all = arguments;
		if (this.takesException) {
			all = Arrays.copyOf(arguments, arguments.length + 1);
			all[arguments.length] = ex;
		}
		try {
			return this.method.invoke(target, all);
		}
		catch (InvocationTargetException failure) {
			throw failure.getTargetException();
		}
	}

	private static boolean takesExceptionLast(Method method) {
		return method.getParameterTypes()[method.getParameterCount() - 1] == RateLimitExceededException.class;
	}

	private static boolean returnsWhat(Method method, Method candidate, Class<?> type) {
		return ClassUtils.isAssignable(returned(method, type), returned(candidate, type));
	}

	private static Class<?> returned(Method method, Class<?> type) {
		return ResolvableType.forMethodReturnType(method, type).toClass();
	}

	private static List<Class<?>> parameters(Method method, Class<?> type) {
		Class<?>[] parameters = new Class<?>[method.getParameterCount()];
		for (int i = 0; i < parameters.length; i++) {
			parameters[i] = ResolvableType.forMethodParameter(method, i, type).toClass();
		}
		return List.of(parameters);
	}

}
