package io.github.ratelimit.spring.method;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.annotation.RateLimited;
import io.github.ratelimit.spring.method.RateLimitedOperation.ReadAnnotation;
import io.github.ratelimit.spring.policy.BeforeLogin;
import io.github.ratelimit.spring.policy.CallsAtOnce;
import io.github.ratelimit.spring.policy.IdentifierNames;
import io.github.ratelimit.spring.policy.NearestNames;
import io.github.ratelimit.spring.policy.PenaltyReader;
import io.github.ratelimit.spring.policy.PolicyEnforcer;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.util.StringValueResolver;

/**
 * Converts the {@code @RateLimited} annotations of a method to policies and costs, and
 * refuses those that cannot be enforced.
 */
final class RateLimitedReader {

	private final Supplier<ConfiguredPolicies> policies;

	private final Function<String, Algorithm> algorithms;

	private final Supplier<PolicyEnforcer> enforcer;

	private final StringValueResolver placeholders;

	/** The annotated element of each policy that is declared inline. */
	private final Map<String, String> places = new ConcurrentHashMap<>();

	RateLimitedReader(Supplier<ConfiguredPolicies> policies, Function<String, Algorithm> algorithms,
			Supplier<PolicyEnforcer> enforcer, StringValueResolver placeholders) {
		this.policies = policies;
		this.algorithms = algorithms;
		this.enforcer = enforcer;
		this.placeholders = placeholders;
	}

	/** Reads annotations; one that cannot be enforced throws an exception. */
	RateLimitedOperation read(RateLimitedAnnotations annotations, Element element) {
		try {
			// Expressions use the parameter names of the annotated method.
			Method names = (annotations.source() instanceof Method source) ? source : element.method();
			MethodExpressions expressions = new MethodExpressions(names, element.type(), element.place());
			List<ReadAnnotation> read = annotations.annotations()
				.stream()
				.map((annotation) -> read(annotation, element, annotations.place(), expressions))
				.toList();
			requireDistinct(read, element);
			requireFewLimits(read);
			ResolvableType returned = ResolvableType.forMethodReturnType(element.method(), element.type());
			ResultType result = ResultType.of(element.method(), element.type());
			if (read.stream().anyMatch((annotation) -> annotation.policy().calls().isPresent())) {
				UnknownEnd.refuse(element.method(), returned);
			}
			return new RateLimitedOperation(element.method(), read, fallback(annotations.annotations(), element),
					result, element.place(), element.onMethod());
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
					"its policies have %d limits together, those of each identifier counted separately; there must be at most %d."
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

	private ReadAnnotation read(RateLimited annotation, Element element, String standsOn,
			MethodExpressions expressions) {
		IdentifiedPolicy policy = text(annotation.policy()).isEmpty() ? inPlace(annotation, element, standsOn)
				: configured(annotation);
		Map<String, MethodExpression> values = new HashMap<>();
		for (String identifier : policy.identifiers()) {
			for (String part : knownAndExpressions(identifier)) {
				if (IdentifierNames.isExpression(part)) {
					values.put(part, expressions.parse("identifiers", part));
				}
				else {
					this.enforcer.get().requireKnown(part);
				}
			}
		}
		this.enforcer.get().requireSupported(policy.policy());
		String costExpression = text(annotation.costExpression());
		if (!costExpression.isEmpty() && annotation.cost() != 1) {
			throw new IllegalArgumentException(
					"Invalid cost (%d): cannot be combined with a costExpression.".formatted(annotation.cost()));
		}
		policy.requirePossible(costExpression.isEmpty() ? annotation.cost() : 0);
		return new ReadAnnotation(policy, annotation.cost(),
				costExpression.isEmpty() ? null : expressions.parse("costExpression", costExpression), values);
	}

	private static List<String> knownAndExpressions(String identifier) {
		List<String> parts = IdentifierNames.parts(identifier);
		return parts.stream().anyMatch(IdentifierNames::isExpression) ? parts : List.of(identifier);
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
			PenaltyReader.requireApart(own.identifiers());
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
		BeforeLogin.requireOther(name);
		CallsAtOnce.requireOther(name);
		requireUnique(name, own.isEmpty() ? element.place() : standsOn, element.claim(), policies);
		String algorithm = text(annotation.algorithm());
		ConfiguredPolicies.Defaults defaults = policies.defaults();
		Policy policy = new Policy(name, algorithm.isEmpty() ? defaults.algorithm() : this.algorithms.apply(algorithm),
				list(annotation.limits()).stream().map(Limit::parse).toList(), defaults.countDenied());
		return new IdentifiedPolicy(policy,
				(annotation.identifiers().length == 0) ? defaults.identifiers() : list(annotation.identifiers()),
				defaults.enforcement());
	}

	private void requireUnique(String name, String place, boolean claim, ConfiguredPolicies policies) {
		String other = policies.find(name).isPresent() ? "ratelimit.policies"
				: claim ? this.places.putIfAbsent(name, place) : null;
		if (other != null && !other.equals(place)) {
			throw new IllegalArgumentException(
					"its policy would be named '%s', a name that %s already uses; give one of them another name."
						.formatted(name, other));
		}
	}

	private String text(String text) {
		String resolved = this.placeholders.resolveStringValue(text);
		return (resolved != null) ? resolved.strip() : "";
	}

	private List<String> list(String[] texts) {
		return Arrays.stream(texts).map(this::text).flatMap((text) -> IdentifierNames.list(text).stream()).toList();
	}

	/**
	 * The method that annotations are read for.
	 *
	 * @param method the method as declared in the class of the object
	 * @param type the class of the object
	 * @param defaultName the default name of a policy declared inline
	 * @param place describes the annotated element in messages
	 * @param onMethod whether the annotations are on the method rather than on its type
	 * @param claim whether to reserve the names of policies for this class; false if it
	 * is not known to be the class of an object
	 */
	record Element(Method method, Class<?> type, String defaultName, String place, boolean onMethod, boolean claim) {

	}

}
