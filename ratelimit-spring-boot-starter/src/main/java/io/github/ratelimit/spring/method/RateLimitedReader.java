package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.config.PolicyReader;
import io.github.ratelimit.spring.decide.ConcurrentLimit;
import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.NearestNames;
import io.github.ratelimit.spring.decide.PolicyEnforcer;
import io.github.ratelimit.spring.method.LimitedMethod.ReadAnnotation;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

/**
 * Converts the {@code @RateLimited} annotations of a method to policies and costs, and
 * refuses those that cannot be enforced.
 *
 * @param places the annotated element of each policy that is declared inline
 */
record RateLimitedReader(Supplier<ConfiguredPolicies> policies, Function<String, Algorithm> algorithms,
		Supplier<PolicyEnforcer> enforcer, UnaryOperator<String> placeholders, Map<String, String> places) {

	/**
	 * Creates a reader. The suppliers are called only when the first annotation is found.
	 * @param algorithms returns the algorithm of a name, and throws
	 * {@link IllegalArgumentException} for an unknown one, as {@code placeholders} does
	 */
	RateLimitedReader(Supplier<ConfiguredPolicies> policies, Function<String, Algorithm> algorithms,
			Supplier<PolicyEnforcer> enforcer, UnaryOperator<String> placeholders) {
		this(policies, algorithms, enforcer, placeholders, new ConcurrentHashMap<>());
	}

	/**
	 * Reads the annotations of a method, of a class or one of its interfaces, or of the
	 * class; {@code null} if there are none.
	 * @throws InvalidRateLimitedException if they cannot be enforced
	 */
	@Nullable LimitedMethod read(Method method, Class<?> targetClass) {
		if (method.getDeclaringClass() == Object.class) {
			return null;
		}
		Class<?> type = ClassUtils.getUserClass(targetClass);
		Method specific = AopUtils.getMostSpecificMethod(method, type);
		RateLimitedAnnotations onMethod = RateLimitedAnnotations.ofMethod(specific, type);
		RateLimitedAnnotations annotations = (onMethod != null) ? onMethod : RateLimitedAnnotations.ofType(type);
		if (annotations == null
				|| (onMethod == null && !CoveredMethods.contain(specific, type, annotations.declaringClass()))) {
			return null;
		}
		// Proxies and lambdas have no stable name, but the types that they implement do.
		Class<?> named = (Proxy.isProxyClass(type) || type.isHidden()) ? annotations.declaringClass() : type;
		if (onMethod == null) {
			return read(annotations, new Element(specific, type, named.getSimpleName(), named.getName(), false));
		}
		// Each class that inherits a method has its own policy for it.
		String place = specific.toGenericString()
				+ ((specific.getDeclaringClass() != named) ? " in " + named.getName() : "");
		if ((specific.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) != 0) {
			throw InvalidRateLimitedException.notIntercepted(place, specific);
		}
		return read(annotations,
				new Element(specific, type, named.getSimpleName() + '.' + specific.getName(), place, true));
	}

	private LimitedMethod read(RateLimitedAnnotations annotations, Element element) {
		try {
			List<ReadAnnotation> read = annotations.annotations()
				.stream()
				.map((annotation) -> read(annotation, element, annotations))
				.toList();
			requireDistinct(read, element);
			requireFewLimits(read);
			ResultType result = ResultType.of(element.method(), element.type());
			if (read.stream().anyMatch((annotation) -> annotation.policy().calls().isPresent())) {
				ResultType.requireKnownEnd(element.method(), element.type());
			}
			return new LimitedMethod(element.method(), read, fallback(annotations.annotations(), element), result,
					element.place(), element.onMethod());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidRateLimitedException(element.place(), ex);
		}
	}

	private static void requireDistinct(List<ReadAnnotation> annotations, Element element) {
		Set<String> names = new TreeSet<>();
		for (ReadAnnotation annotation : annotations) {
			String name = annotation.policy().policy().name();
			if (!names.add(name)) {
				throw new IllegalArgumentException(name.equals(element.defaultName())
						? "several of its annotations have limits and no name; give all but one of them a name."
						: "the policy '%s' is used twice.".formatted(name));
			}
		}
	}

	private static void requireFewLimits(List<ReadAnnotation> annotations) {
		int limits = annotations.stream().mapToInt((annotation) -> annotation.policy().mostLimits()).sum();
		if (limits > RateLimitRequest.MAX_STATUSES) {
			throw new IllegalArgumentException(
					"its policies have %s limits together, those of each identifier counted separately; there must be at most %s."
						.formatted(limits, RateLimitRequest.MAX_STATUSES));
		}
	}

	private @Nullable Fallback fallback(List<RateLimited> annotations, Element element) {
		List<String> names = annotations.stream()
			.map((annotation) -> text(annotation.fallbackMethod()))
			.filter((name) -> !name.isEmpty())
			.distinct()
			.toList();
		if (names.isEmpty()) {
			return null;
		}
		if (!element.onMethod()) {
			throw new IllegalArgumentException(
					"Invalid fallbackMethod (%s): must be on a method, not on a type.".formatted(names.get(0)));
		}
		if (names.size() > 1) {
			throw new IllegalArgumentException(
					"Invalid fallbackMethod %s: there must be one for all annotations of the method.".formatted(names));
		}
		return Fallback.find(names.get(0), element.method(), element.type());
	}

	private ReadAnnotation read(RateLimited annotation, Element element, RateLimitedAnnotations from) {
		IdentifiedPolicy policy = text(annotation.policy()).isEmpty() ? inPlace(annotation, element, from.place())
				: configured(annotation);
		// Expressions use the parameter names of the annotated method.
		Method names = (from.source() instanceof Method source) ? source : element.method();
		Map<String, MethodExpression> values = new HashMap<>();
		for (String identifier : policy.identifiers()) {
			List<String> parts = IdentifierNames.parts(identifier);
			for (String part : parts.stream().anyMatch(IdentifierNames::isExpression) ? parts : List.of(identifier)) {
				if (IdentifierNames.isExpression(part)) {
					values.put(part,
							MethodExpression.parse("identifiers", part, names, element.type(), element.place()));
				}
				else {
					this.enforcer.get().requireKnown(part);
				}
			}
		}
		this.enforcer.get().requireSupported(policy.policy());
		String cost = text(annotation.costExpression());
		if (cost.isEmpty()) {
			policy.requirePossible(annotation.cost());
			return new ReadAnnotation(policy, annotation.cost(), null, values);
		}
		if (annotation.cost() != 1) {
			throw new IllegalArgumentException(
					"Invalid cost (%s): cannot be combined with a costExpression.".formatted(annotation.cost()));
		}
		return new ReadAnnotation(policy, 0,
				MethodExpression.parse("costExpression", cost, names, element.type(), element.place()), values);
	}

	private IdentifiedPolicy configured(RateLimited annotation) {
		String name = text(annotation.policy());
		requireNone("limits", list(annotation.limits()).toString(), annotation.limits().length == 0, name);
		requireNone("name", "(" + text(annotation.name()) + ")", text(annotation.name()).isEmpty(), name);
		requireNone("algorithm", "(" + text(annotation.algorithm()) + ")", text(annotation.algorithm()).isEmpty(),
				name);
		ConfiguredPolicies policies = this.policies.get();
		IdentifiedPolicy policy = policies.find(name).orElseThrow(() -> {
			List<String> names = policies.policies().keySet().stream().sorted().toList();
			return new IllegalArgumentException("there is no policy '%s' below ratelimit.policies, only %s.%s"
				.formatted(name, names, NearestNames.question(name, names)));
		});
		if (annotation.identifiers().length == 0) {
			return policy;
		}
		IdentifiedPolicy own = policy.withIdentifiers(list(annotation.identifiers()));
		if (own.policy().penalty() != null) {
			PolicyReader.requireApart(own.identifiers());
		}
		return own;
	}

	private static void requireNone(String attribute, String value, boolean none, String policy) {
		if (!none) {
			throw new IllegalArgumentException(
					"Invalid %s %s: the policy '%s' is from the configuration; remove the %1$s, or the policy."
						.formatted(attribute, value, policy));
		}
	}

	private IdentifiedPolicy inPlace(RateLimited annotation, Element element, String standsOn) {
		if (annotation.limits().length == 0) {
			throw new IllegalArgumentException("it must name a policy or have limits.");
		}
		String own = text(annotation.name());
		String name = own.isEmpty() ? element.defaultName() : own;
		ConfiguredPolicies policies = this.policies.get();
		ConcurrentLimit.requireOther(name);
		requireUnique(name, own.isEmpty() ? element.place() : standsOn, policies);
		String algorithm = text(annotation.algorithm());
		ConfiguredPolicies.Defaults defaults = policies.defaults();
		Policy policy = new Policy(name, algorithm.isEmpty() ? defaults.algorithm() : this.algorithms.apply(algorithm),
				list(annotation.limits()).stream().map(Limit::parse).toList(), defaults.countDenied());
		return new IdentifiedPolicy(policy,
				(annotation.identifiers().length == 0) ? defaults.identifiers() : list(annotation.identifiers()),
				defaults.enforcement());
	}

	private void requireUnique(String name, String place, ConfiguredPolicies policies) {
		String other = policies.find(name).isPresent() ? "ratelimit.policies" : this.places.putIfAbsent(name, place);
		if (other != null && !other.equals(place)) {
			throw new IllegalArgumentException(
					"its policy would be named '%s', a name that %s already uses; give one of them another name."
						.formatted(name, other));
		}
	}

	private String text(String text) {
		return this.placeholders.apply(text).strip();
	}

	private List<String> list(String[] texts) {
		return Arrays.stream(texts).map(this::text).flatMap((text) -> IdentifierNames.list(text).stream()).toList();
	}

	/**
	 * The method that annotations are read for.
	 *
	 * @param type the class of the object, which may inherit the method
	 * @param defaultName of a policy declared inline
	 * @param place describes the annotated element in messages
	 * @param onMethod whether the annotations are on the method rather than on its type
	 */
	private record Element(Method method, Class<?> type, String defaultName, String place, boolean onMethod) {

	}

}
