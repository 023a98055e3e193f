package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.IntStream;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;

/**
 * The parameters that the source of a method declares. The compiler of Kotlin appends a
 * continuation to those of a suspend function, which only its caller needs.
 */
final class DeclaredParameters {

	private DeclaredParameters() {
	}

	/**
	 * Returns the types of the parameters.
	 * @param method the method
	 * @param type the class of the object
	 */
	static List<ResolvableType> types(Method method, Class<?> type) {
		int count = method.getParameterCount() - (KotlinDetector.isSuspendingFunction(method) ? 1 : 0);
		return IntStream.range(0, count)
			.mapToObj((index) -> ResolvableType.forMethodParameter(method, index, type))
			.toList();
	}

}
