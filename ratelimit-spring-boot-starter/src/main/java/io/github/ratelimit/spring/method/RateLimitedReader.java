package io.github.ratelimit.spring.method;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.policy.BeforeLogin;
import io.github.ratelimit.spring.policy.IdentifierParts;
import io.github.ratelimit.spring.policy.NearestNames;
import io.github.ratelimit.spring.policy.PolicyEnforcer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringValueResolver;

/**
 * Reads the {@code @RateLimited} annotations of methods, and refuses what cannot be
 * enforced.
 */
final class RateLimitedReader {

	static final String NOT_INTERCEPTED = "calls of private, static and final methods cannot be intercepted.";

	private static final Logger logger = LoggerFactory.getLogger(RateLimitedReader.class);

	private final Supplier<ConfiguredPolicies> policies;

	private final Function<String, Algorithm> algorithms;

	private final Supplier<PolicyEnforcer> enforcer;

	private final StringValueResolver placeholders;

	/** Where each policy that is written in place stands. */
	private final Map<String, String> places = new ConcurrentHashMap<>();

	RateLimitedReader(Supplier<ConfiguredPolicies> policies, Function<String, Algorithm> algorithms,
			Supplier<PolicyEnforcer> enforcer, StringValueResolver placeholders) {
		this.policies = policies;
		this.algorithms = algorithms;
		this.enforcer = enforcer;
		this.placeholders = placeholders;
	}

	/**
	 * Reads the annotations of a method, or else those of its type.
	 * @param method the method, of the class or of one of its interfaces
	 * @param targetClass the class of the object
	 * @param claim whether the names of policies belong to this class from now on, which
	 * they do not if it is not known to be the class of an object
	 * @return what they say; {@code null} if there are none
	 */
	@Nullable RateLimitedOperation read(Method method, Class<?> targetClass, boolean claim) {
		if (method.getDeclaringClass() == Object.class) {
			return null;
		}
		Class<?> type = ClassUtils.getUserClass(targetClass);
		Method specific = AopUtils.getMostSpecificMethod(method, type);
		Annotations onMethod = ofMethod(specific, type);
		if (onMethod != null) {
			Class<?> named = named(type, onMethod);
			String place = specific.toGenericString();
			if (specific.getDeclaringClass() != named) {
				// Each class that inherits a method has a policy of its own for it.
				place += " in " + named.getName();
			}
			if ((specific.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) != 0) {
				throw invalid(place, NOT_INTERCEPTED);
			}
			return new Element(specific, type, named.getSimpleName() + '.' + specific.getName(), place, claim)
				.read(onMethod, true);
		}
		if (!mayBeCoveredByType(specific)) {
			return null;
		}
		Annotations onType = ofType(type);
		if (onType == null || isOutOfReach(specific, type, (Class<?>) onType.source(), claim)) {
			return null;
		}
		Class<?> named = named(type, onType);
		return new Element(specific, type, named.getSimpleName(), named.getName(), claim).read(onType, false);
	}

	/** Proxies and lambdas have no lasting name; what they implement has. */
	private static Class<?> named(Class<?> type, Annotations annotations) {
		return (Proxy.isProxyClass(type) || type.isHidden()) ? annotations.declaringClass() : type;
	}

	private static boolean mayBeCoveredByType(Method method) {
		return (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0 && !method.isSynthetic()
				&& !ReflectionUtils.isObjectMethod(method);
	}

	/**
	 * Whether a method is inherited from above the annotated type, in a way that nobody
	 * can change there: a base class of a library must not forbid the annotation.
	 */
	private static boolean isOutOfReach(Method method, Class<?> type, Class<?> annotated, boolean tell) {
		if (annotated.isAssignableFrom(method.getDeclaringClass()) || canBeOverridden(method, type)) {
			return false;
		}
		if (tell) {
			logger.info("@RateLimited on {} does not limit the inherited method {}, which cannot be intercepted",
					annotated.getName(), method);
		}
		return true;
	}

	static boolean canBeOverridden(Method method, Class<?> type) {
		int modifiers = method.getModifiers();
		boolean visible = (modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0
				|| method.getDeclaringClass().getPackageName().equals(type.getPackageName());
		return visible && !Modifier.isFinal(modifiers);
	}

	private static @Nullable Annotations ofMethod(Method method, Class<?> type) {
		Annotations annotations = find(Stream.of(method));
		if (annotations != null) {
			return annotations;
		}
		// A class may implement an interface by a method that it inherits from a class
		// that knows nothing of the interface.
		return find(ClassUtils.getAllInterfacesForClassAsSet(type)
			.stream()
			.flatMap((candidate) -> Arrays.stream(candidate.getMethods()))
			.filter((candidate) -> candidate.getName().equals(method.getName())
					&& candidate.getParameterCount() == method.getParameterCount()
					&& !Modifier.isStatic(candidate.getModifiers())
					&& AopUtils.getMostSpecificMethod(candidate, type).equals(method)));
	}

	private static @Nullable Annotations ofType(Class<?> type) {
		return find(Stream.of(type));
	}

	/**
	 * Returns the annotations of the elements, or of what they override or implement:
	 * those that stand nearest.
	 */
	private static @Nullable Annotations find(Stream<? extends AnnotatedElement> elements) {
		Map<Object, List<RateLimited>> found = new LinkedHashMap<>();
		elements.forEach((element) -> MergedAnnotations
			.from(element, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.stream(RateLimited.class)
			.forEach((annotation) -> add(found, annotation)));
		List<Annotations> all = found.entrySet()
			.stream()
			.map((entry) -> new Annotations(entry.getKey(), entry.getValue()))
			.toList();
		List<Annotations> nearest = all.stream()
			.filter((one) -> all.stream()
				.noneMatch((other) -> other.declaringClass() != one.declaringClass()
						&& one.declaringClass().isAssignableFrom(other.declaringClass())))
			.toList();
		if (nearest.size() > 1) {
			throw invalid(nearest.get(0).place(),
					"there is another on %s, and neither is nearer to the class that has both; annotate that class or its method itself."
						.formatted(nearest.get(1).place()));
		}
		return nearest.isEmpty() ? null : nearest.get(0);
	}

	private static void add(Map<Object, List<RateLimited>> found, MergedAnnotation<RateLimited> annotation) {
		Object source = annotation.getSource();
		if (source != null) {
			found.computeIfAbsent(source, (key) -> new ArrayList<>()).add(annotation.synthesize());
		}
	}

	static InvalidRateLimitedException invalid(String place, String reason) {
		return new InvalidRateLimitedException(place, new IllegalArgumentException(reason));
	}

	private String text(String text) {
		String resolved = this.placeholders.resolveStringValue(text);
		return (resolved != null) ? resolved.strip() : "";
	}

	private List<String> list(String[] texts) {
		return Arrays.stream(texts).map(this::text).flatMap((text) -> IdentifierParts.list(text).stream()).toList();
	}

	/**
	 * Annotations that stand at one place.
	 *
	 * @param source the class or method
	 * @param annotations at least one
	 */
	private record Annotations(Object source, List<RateLimited> annotations) {

		Class<?> declaringClass() {
			return (this.source instanceof Member member) ? member.getDeclaringClass() : (Class<?>) this.source;
		}

		String place() {
			return (this.source instanceof Method method) ? method.toGenericString() : declaringClass().getName();
		}

	}

	/** A method whose annotations are read, and what is said of it in messages. */
	private final class Element {

		private final Method method;

		private final Class<?> type;

		private final String defaultName;

		private final String place;

		private final boolean claim;

		Element(Method method, Class<?> type, String defaultName, String place, boolean claim) {
			this.method = method;
			this.type = type;
			this.defaultName = defaultName;
			this.place = place;
			this.claim = claim;
		}

		RateLimitedOperation read(Annotations annotations, boolean onMethod) {
			try {
				// Whoever wrote the annotation knew the names of these parameters.
				Method names = (annotations.source() instanceof Method source) ? source : this.method;
				MethodExpressions expressions = new MethodExpressions(names, this.place);
				List<RateLimitedUse> uses = annotations.annotations()
					.stream()
					.map((annotation) -> use(annotation, annotations.place(), expressions))
					.toList();
				requireDistinct(uses);
				return new RateLimitedOperation(this.method, uses, fallback(annotations.annotations(), onMethod),
						this.place, onMethod);
			}
			catch (IllegalArgumentException ex) {
				throw new InvalidRateLimitedException(this.place, ex);
			}
		}

		private void requireDistinct(List<RateLimitedUse> uses) {
			Set<String> names = new TreeSet<>();
			for (RateLimitedUse use : uses) {
				String name = use.policy().policy().name();
				if (!names.add(name)) {
					throw new IllegalArgumentException(name.equals(this.defaultName)
							? "several of its annotations have limits and no name; give all but one of them a name."
							: "the policy '%s' stands there twice.".formatted(name));
				}
			}
		}

		private @Nullable Fallback fallback(List<RateLimited> annotations, boolean onMethod) {
			List<String> names = annotations.stream()
				.map((annotation) -> text(annotation.fallbackMethod()))
				.filter((name) -> !name.isEmpty())
				.distinct()
				.toList();
			if (names.isEmpty()) {
				return null;
			}
			if (!onMethod) {
				throw new IllegalArgumentException(
						"Invalid fallbackMethod (%s): must be on a method, not on a type.".formatted(names.get(0)));
			}
			if (names.size() > 1) {
				throw new IllegalArgumentException(
						"Invalid fallbackMethod %s: there must be one for all annotations of the method."
							.formatted(names));
			}
			return Fallback.find(names.get(0), this.method, this.type);
		}

		private RateLimitedUse use(RateLimited annotation, String standsOn, MethodExpressions expressions) {
			PolicyEnforcer enforcer = RateLimitedReader.this.enforcer.get();
			IdentifiedPolicy policy = text(annotation.policy()).isEmpty() ? inPlace(annotation, standsOn)
					: configured(annotation);
			Map<String, MethodExpression> values = new HashMap<>();
			for (String identifier : policy.identifiers()) {
				for (String part : knownAndExpressions(identifier)) {
					if (IdentifierParts.isExpression(part)) {
						values.put(part, expressions.parse(part));
					}
					else {
						enforcer.requireKnown(part);
					}
				}
			}
			enforcer.requireSupported(policy.policy());
			String costExpression = text(annotation.costExpression());
			if (!costExpression.isEmpty() && annotation.cost() != 1) {
				throw new IllegalArgumentException(
						"Invalid cost (%d): there is a costExpression as well.".formatted(annotation.cost()));
			}
			policy.requirePossible(costExpression.isEmpty() ? annotation.cost() : 0);
			return new RateLimitedUse(policy, annotation.cost(),
					costExpression.isEmpty() ? null : expressions.parse(costExpression), values);
		}

		private static List<String> knownAndExpressions(String identifier) {
			List<String> parts = IdentifierParts.of(identifier);
			return parts.stream().anyMatch(IdentifierParts::isExpression) ? parts : List.of(identifier);
		}

		private IdentifiedPolicy configured(RateLimited annotation) {
			String name = text(annotation.policy());
			requireNone("limits", list(annotation.limits()).toString(), annotation.limits().length == 0, name);
			requireNone("name", "(" + text(annotation.name()) + ")", text(annotation.name()).isEmpty(), name);
			requireNone("algorithm", "(" + text(annotation.algorithm()) + ")", text(annotation.algorithm()).isEmpty(),
					name);
			ConfiguredPolicies policies = RateLimitedReader.this.policies.get();
			IdentifiedPolicy policy = policies.find(name).orElseThrow(() -> {
				List<String> names = policies.policies().keySet().stream().sorted().toList();
				return new IllegalArgumentException("there is no policy '%s' below ratelimit.policies, only %s.%s"
					.formatted(name, names, NearestNames.question(name, names)));
			});
			return (annotation.identifiers().length == 0) ? policy
					: policy.withIdentifiers(list(annotation.identifiers()));
		}

		private static void requireNone(String attribute, String value, boolean none, String policy) {
			if (!none) {
				throw new IllegalArgumentException(
						"Invalid %s %s: the policy '%s' is of the configuration; remove the %1$s, or the policy."
							.formatted(attribute, value, policy));
			}
		}

		private IdentifiedPolicy inPlace(RateLimited annotation, String standsOn) {
			if (annotation.limits().length == 0) {
				throw new IllegalArgumentException("it must name a policy or have limits.");
			}
			String own = text(annotation.name());
			String name = own.isEmpty() ? this.defaultName : own;
			ConfiguredPolicies policies = RateLimitedReader.this.policies.get();
			BeforeLogin.requireOther(name);
			requireUnique(name, own.isEmpty() ? this.place : standsOn, policies);
			String algorithm = text(annotation.algorithm());
			Policy policy = new Policy(name,
					algorithm.isEmpty() ? new SlidingWindow() : RateLimitedReader.this.algorithms.apply(algorithm),
					list(annotation.limits()).stream().map(Limit::parse).toList());
			return new IdentifiedPolicy(policy, (annotation.identifiers().length == 0) ? policies.defaultIdentifiers()
					: list(annotation.identifiers()));
		}

		private void requireUnique(String name, String place, ConfiguredPolicies policies) {
			String other = policies.find(name).isPresent() ? "ratelimit.policies"
					: this.claim ? RateLimitedReader.this.places.putIfAbsent(name, place) : null;
			if (other != null && !other.equals(place)) {
				throw new IllegalArgumentException(
						"its policy would be named '%s', as the one of %s already is; give one of them another name."
							.formatted(name, other));
			}
		}

	}

}
