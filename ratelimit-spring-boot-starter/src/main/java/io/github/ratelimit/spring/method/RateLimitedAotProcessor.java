package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.expression.ExpressionHints;
import io.github.ratelimit.spring.policy.IdentifierNames;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Registers hints for fallback methods, and for what expressions in annotations read from
 * arguments, by their declared types.
 */
class RateLimitedAotProcessor implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
		if (!AnnotationUtils.isCandidateClass(type, RateLimited.class)) {
			return null;
		}
		List<RateLimited> onType = annotations(type, MergedAnnotations::from);
		Map<Method, List<RateLimited>> onMethods = MethodIntrospector.selectMethods(type, (Method method) -> {
			List<RateLimited> own = annotations(method, MergedAnnotations::from);
			List<RateLimited> all = own.isEmpty() ? onType : own;
			return all.isEmpty() ? null : all;
		});
		if (onMethods.isEmpty()) {
			return null;
		}
		Environment environment = bean.getBeanFactory().getBeanProvider(Environment.class).getObject();
		return (context, code) -> {
			ReflectionHints hints = context.getRuntimeHints().reflection();
			if (!onType.isEmpty()) {
				hints.registerType(type, MemberCategory.INVOKE_DECLARED_METHODS, MemberCategory.INVOKE_PUBLIC_METHODS);
			}
			onMethods.forEach((method, annotations) -> annotations
				.forEach((annotation) -> register(annotation, method, type, environment::resolvePlaceholders, hints)));
		};
	}

	private static <T> List<RateLimited> annotations(T element, Finder<T> finder) {
		return finder.from(element, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.stream(RateLimited.class)
			.map((annotation) -> annotation.synthesize())
			.toList();
	}

	private static void register(RateLimited annotation, Method method, Class<?> type,
			Function<String, String> placeholders, ReflectionHints hints) {
		String fallback = placeholders.apply(annotation.fallbackMethod()).strip();
		Stream.of(ReflectionUtils.getUniqueDeclaredMethods(type))
			.filter((candidate) -> candidate.getName().equals(fallback))
			.forEach((candidate) -> hints.registerMethod(candidate, ExecutableMode.INVOKE));
		ExpressionHints expressions = new ExpressionHints(hints);
		Stream.concat(Stream.of(annotation.costExpression()).map(placeholders).filter(StringUtils::hasText),
				Arrays.stream(annotation.identifiers())
					.map(placeholders)
					.flatMap((text) -> IdentifierNames.list(text).stream())
					.flatMap((identifier) -> IdentifierNames.parts(identifier).stream())
					.filter(IdentifierNames::isExpression))
			.forEach(expressions::add);
		DeclaredParameters.types(method, type).forEach(expressions::register);
	}

	@FunctionalInterface
	private interface Finder<T> {

		MergedAnnotations from(T element, SearchStrategy strategy, RepeatableContainers containers);

	}

}
