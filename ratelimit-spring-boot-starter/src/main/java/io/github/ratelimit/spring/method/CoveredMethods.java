package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.stream.Stream;

import org.springframework.beans.factory.Aware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.Lifecycle;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The methods that the {@code @RateLimited} annotation of a type limits: of a controller
 * those that handle requests and messages, of any other class those that others call. A
 * framework calls the rest for the sake of these, or to run the bean.
 */
final class CoveredMethods {

	private static final List<String> CONTROLLERS = List.of("org.springframework.stereotype.Controller",
			"org.springframework.web.bind.annotation.ControllerAdvice");

	/** What is on a method that handles requests or messages. */
	private static final List<String> HANDLERS = List.of("org.springframework.web.bind.annotation.Mapping",
			"org.springframework.messaging.handler.annotation.MessageMapping",
			"org.springframework.messaging.simp.annotation.SubscribeMapping",
			"org.springframework.messaging.rsocket.annotation.ConnectMapping",
			"org.springframework.graphql.data.method.annotation.SchemaMapping",
			"org.springframework.graphql.data.method.annotation.BatchMapping",
			"org.springframework.graphql.data.federation.EntityMapping");

	/** What is on a method that a framework calls for the bean itself. */
	private static final List<String> OTHERS = List.of("org.springframework.context.annotation.Bean",
			"jakarta.annotation.PostConstruct", "jakarta.annotation.PreDestroy");

	/** Spring calls their methods before there is a proxy, or without it. */
	private static final List<Class<?>> WITHOUT_PROXY = List.of(InitializingBean.class, DisposableBean.class,
			AutoCloseable.class, Aware.class);

	/** Spring calls their methods to run the bean. */
	private static final List<Class<?>> WITH_PROXY = List.of(SmartInitializingSingleton.class, Lifecycle.class,
			FactoryBean.class);

	private CoveredMethods() {
	}

	/**
	 * Returns whether the annotation of a type limits a method. A final method of a base
	 * class above that type must not prevent the annotation.
	 * @param method the method as declared in the class of the object
	 * @param type the class of the object
	 * @param annotated the class or interface with the annotation
	 */
	static boolean contain(Method method, Class<?> type, Class<?> annotated) {
		return (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0 && !method.isSynthetic()
				&& method.getDeclaringClass().isAssignableFrom(type) && !ReflectionUtils.isObjectMethod(method)
				&& !isForTheBean(method, type)
				&& (annotated.isAssignableFrom(method.getDeclaringClass()) || canBeOverridden(method, type));
	}

	/** Refuses an annotation of a class that would silently limit nothing. */
	static void requireAny(Class<?> type) {
		RateLimitedAnnotations annotations = RateLimitedAnnotations.ofType(type);
		if (annotations != null && Stream.of(ReflectionUtils.getUniqueDeclaredMethods(type))
			.anyMatch((method) -> isForTheBean(method, type))) {
			throw new InvalidRateLimitedException(annotations.place(), new IllegalArgumentException(
					"on a class it limits handlers, or what other beans call, and there is neither; annotate the methods to limit."));
		}
	}

	/** Returns whether a framework calls a method, but not for a request or message. */
	private static boolean isForTheBean(Method method, Class<?> type) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return !isAny(HANDLERS, annotations) && (isAny(OTHERS, annotations) || isCalledWithoutProxy(method, type)
				|| implementsAny(WITH_PROXY, method, type)
				|| isAny(CONTROLLERS, MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY)));
	}

	private static boolean isAny(List<String> names, MergedAnnotations annotations) {
		return names.stream().anyMatch(annotations::isPresent);
	}

	/** Returns whether Spring calls a method on the bean itself. */
	static boolean isCalledWithoutProxy(Method method, Class<?> type) {
		return implementsAny(WITHOUT_PROXY, method, type);
	}

	private static boolean implementsAny(List<Class<?>> known, Method method, Class<?> type) {
		return Stream.of(ClassUtils.getAllInterfacesForClass(type))
			.filter((each) -> known.stream().anyMatch((callback) -> callback.isAssignableFrom(each)))
			.anyMatch((each) -> ClassUtils.hasMethod(each, method));
	}

	/** Returns whether a proxy of a class can intercept a method. */
	static boolean canBeOverridden(Method method, Class<?> type) {
		int modifiers = method.getModifiers();
		Class<?> declaring = method.getDeclaringClass();
		boolean visible = (modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0
				|| (declaring.getPackageName().equals(type.getPackageName())
						&& declaring.getClassLoader() == type.getClassLoader());
		return visible && !Modifier.isFinal(modifiers);
	}

}
