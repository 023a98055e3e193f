package io.github.ratelimit.spring.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.ratelimit.spring.IdentifierParts;
import io.github.ratelimit.spring.annotation.RateLimited;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.core.env.Environment;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Keeps in a native image what annotations name by texts: fallback methods, and what
 * expressions read of arguments. It goes by the declared types.
 */
class RateLimitedAotProcessor implements BeanRegistrationAotProcessor {

	private static final SpelExpressionParser parser = new SpelExpressionParser();

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
		Set<String> members = new HashSet<>();
		boolean expressions = Stream
			.concat(Stream.of(annotation.costExpression()).map(placeholders).filter(StringUtils::hasText),
					Arrays.stream(annotation.identifiers())
						.map(placeholders)
						.flatMap((text) -> IdentifierParts.list(text).stream())
						.flatMap((identifier) -> IdentifierParts.of(identifier).stream())
						.filter(IdentifierParts::isExpression))
			.filter((expression) -> addMembers(expression, members))
			.count() > 0;
		if (expressions) {
			Set<String> seen = new HashSet<>();
			for (int i = 0; i < method.getParameterCount(); i++) {
				ResolvableType parameter = ResolvableType.forMethodParameter(method, i, type);
				if (has(parameter, members)) {
					register(parameter, members, seen, hints);
				}
			}
		}
	}

	/** Adds what an expression names; one that cannot be read stops the start later. */
	private static boolean addMembers(String expression, Set<String> members) {
		try {
			addMembers(parser.parseRaw(expression).getAST(), members);
			return true;
		}
		catch (ParseException | IllegalStateException ex) {
			return false;
		}
	}

	private static void addMembers(SpelNode node, Set<String> members) {
		if (node instanceof PropertyOrFieldReference property) {
			members.add(property.getName());
		}
		else if (node instanceof MethodReference method) {
			members.add(method.getName());
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			addMembers(node.getChild(i), members);
		}
	}

	/** Whether an expression may mean something of a type, or of its elements. */
	private static boolean has(ResolvableType type, Set<String> members) {
		return type.isArray() || type.hasGenerics()
				|| Stream.of(type.toClass().getMethods()).anyMatch((method) -> isNamed(method, members))
				|| Stream.of(type.toClass().getFields()).anyMatch((field) -> members.contains(field.getName()));
	}

	private static void register(ResolvableType type, Set<String> members, Set<String> seen, ReflectionHints hints) {
		if (!seen.add(type.toString())) {
			return;
		}
		if (type.isArray()) {
			register(type.getComponentType(), members, seen, hints);
			return;
		}
		for (ResolvableType generic : type.getGenerics()) {
			register(generic, members, seen, hints);
		}
		Class<?> raw = type.toClass();
		if (raw.isPrimitive() || raw == Object.class) {
			return;
		}
		hints.registerType(raw, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.ACCESS_PUBLIC_FIELDS);
		for (Method method : raw.getMethods()) {
			if (isNamed(method, members)) {
				register(ResolvableType.forMethodReturnType(method, raw), members, seen, hints);
			}
		}
		for (Field field : raw.getFields()) {
			if (members.contains(field.getName())) {
				register(ResolvableType.forField(field, raw), members, seen, hints);
			}
		}
	}

	private static boolean isNamed(Method method, Set<String> members) {
		String name = method.getName();
		return members.contains(name) || Stream.of("get", "is")
			.anyMatch((prefix) -> name.startsWith(prefix) && name.length() > prefix.length()
					&& members.contains(StringUtils.uncapitalizeAsProperty(name.substring(prefix.length()))));
	}

	@FunctionalInterface
	private interface Finder<T> {

		MergedAnnotations from(T element, SearchStrategy strategy, RepeatableContainers containers);

	}

}
