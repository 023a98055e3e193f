package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.expression.ExpressionHints;
import io.github.ratelimit.spring.decide.IdentifierNames;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
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
		RateLimitedAnnotations onType = RateLimitedAnnotations.ofType(type);
		Map<Method, RateLimitedAnnotations> onMethods = MethodIntrospector.selectMethods(type, (Method method) -> {
			RateLimitedAnnotations own = RateLimitedAnnotations.ofMethod(method, type);
			return (own != null) ? own : onType;
		});
		if (onMethods.isEmpty()) {
			return null;
		}
		Environment environment = bean.getBeanFactory().getBeanProvider(Environment.class).getObject();
		return (context, code) -> {
			ReflectionHints hints = context.getRuntimeHints().reflection();
			if (onType != null) {
				hints.registerType(type, MemberCategory.INVOKE_DECLARED_METHODS, MemberCategory.INVOKE_PUBLIC_METHODS);
			}
			onMethods.forEach((method, annotations) -> annotations.annotations()
				.forEach((annotation) -> register(annotation, method, type, environment::resolvePlaceholders, hints)));
		};
	}

	private static void register(RateLimited annotation, Method method, Class<?> type,
			Function<String, String> placeholders, ReflectionHints hints) {
		String fallback = placeholders.apply(annotation.fallbackMethod()).strip();
		Stream.of(ReflectionUtils.getUniqueDeclaredMethods(type))
			.filter((candidate) -> candidate.getName().equals(fallback))
			.forEach((candidate) -> hints.registerMethod(candidate, ExecutableMode.INVOKE));
		List<String> expressions = Stream
			.concat(Stream.of(annotation.costExpression()).map(placeholders).filter(StringUtils::hasText),
					Arrays.stream(annotation.identifiers())
						.map(placeholders)
						.flatMap((text) -> IdentifierNames.list(text).stream())
						.flatMap((identifier) -> IdentifierNames.parts(identifier).stream())
						.filter(IdentifierNames::isExpression))
			.toList();
		ExpressionHints.register(hints, expressions, MethodExpression.parameters(method, type));
	}

}
