package io.github.ratelimit.spring.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.spring.decide.NearestNames;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanInstantiationException;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.ClassUtils;

/**
 * The algorithms that policies may name: first those of the library, then those that
 * policies in code have as objects, then {@link Algorithm} beans by bean name, then
 * classes with a constructor without parameters.
 */
public final class NamedAlgorithms {

	private static final String OTHER = "Is an option of %s, but the algorithm of this policy is %s: change the algorithm, or remove the option.";

	private final ApplicationContext context;

	private final DeclaredPolicies declared;

	NamedAlgorithms(ApplicationContext context, DeclaredPolicies declared) {
		this.context = context;
		this.declared = declared;
		beans().forEach(this::requireOwnName);
	}

	/** Bean names have no hyphens: slidingWindow looks like sliding-window. */
	private void requireOwnName(String bean) {
		Stream.concat(Stream.of(bean), Stream.of(this.context.getAliases(bean))).forEach((name) -> {
			Optional<Algorithm> other = Algorithms.find(DataObjectPropertyName.toDashedForm(name));
			if (other.isPresent()) {
				throw new InvalidBeanException(name, Algorithm.class,
						new IllegalArgumentException(
								"the library has an algorithm of that name (%s), which policies would get instead."
									.formatted(other.get().name())));
			}
		});
	}

	private List<String> beans() {
		return Stream
			.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.context, Algorithm.class, true, false))
			.sorted()
			.toList();
	}

	/**
	 * Returns an algorithm.
	 * @param name the name of an algorithm of the library, of a bean, or of a class
	 * @throws IllegalArgumentException if there is no algorithm of that name, or it
	 * cannot be used
	 */
	public Algorithm get(String name) {
		return Algorithms.find(name)
			.orElseGet(() -> usable(name, this.context.containsBean(name) ? ofBean(name) : ofClass(name)));
	}

	private static Algorithm usable(String name, Algorithm algorithm) {
		if (!algorithm.code().matches("[a-z0-9]+")) {
			throw invalid(name, "its code (%s) must be lower-case letters and digits.".formatted(algorithm.code()));
		}
		for (Algorithm other : Algorithms.all()) {
			boolean same = other.name().equals(algorithm.name()) || other.code().equals(algorithm.code());
			if (same && other.getClass() != algorithm.getClass()) {
				throw invalid(name, "its name (%s) and code (%s) must differ from those of %s."
					.formatted(algorithm.name(), algorithm.code(), other.getClass().getName()));
			}
		}
		return algorithm;
	}

	private Algorithm ofBean(String name) {
		if (!this.context.isTypeMatch(name, Algorithm.class)) {
			throw invalid(name, "the bean of that name is not an Algorithm, but of type %s."
				.formatted(Objects.requireNonNullElse(this.context.getType(name), Object.class).getName()));
		}
		return this.context.getBean(name, Algorithm.class);
	}

	private Algorithm ofClass(String name) {
		try {
			Class<?> type = ClassUtils.forName(name, this.context.getClassLoader());
			if (!Algorithm.class.isAssignableFrom(type)) {
				throw invalid(name, "the class does not implement Algorithm.");
			}
			return (Algorithm) BeanUtils.instantiateClass(type);
		}
		catch (ClassNotFoundException ex) {
			List<String> names = new ArrayList<>(Algorithms.all().stream().map(Algorithm::name).toList());
			List<String> beans = beans();
			String library = String.join(", ", names);
			names.addAll(beans);
			throw invalid(name, "must be one of %s%s.%s%s".formatted(library,
					beans.isEmpty() ? "" : ", or of the Algorithm beans " + String.join(", ", beans),
					name.contains(".") ? " There is no such class either." : "", NearestNames.question(name, names)));
		}
		catch (BeanInstantiationException | LinkageError ex) {
			throw invalid(name,
					"the class must have a constructor without parameters that can be called (%s); or use a bean."
						.formatted(NestedExceptionUtils.getMostSpecificCause(ex).getMessage()));
		}
	}

	private static IllegalArgumentException invalid(String name, String rule) {
		return new IllegalArgumentException("Invalid algorithm (%s): %s".formatted(name, rule));
	}

	/**
	 * Returns the algorithm of a policy with the options that are set, which must suit
	 * its limits. An option of another algorithm is refused, because it would have no
	 * effect. Beans and classes take their options where they are created.
	 * <p>
	 * The name of the algorithm that the policy has as an object stands for that object,
	 * with its options.
	 */
	Algorithm read(String policy, PolicySettings settings, List<Limit> limits, Algorithm standard) {
		String prefix = PolicyReader.property(policy, "");
		String given = settings.algorithm();
		Algorithm algorithm = (given != null)
				? PolicyReader.read(prefix + ".algorithm", given, () -> get(policy, given)) : standard;
		String name = (given != null && Algorithms.find(given).isEmpty()) ? given : algorithm.name();
		Map<String, Object> set = SetOptions.of(settings);
		set.keySet().removeIf((option) -> PolicySettings.option(option).algorithm().isEmpty());
		set.forEach((option, value) -> {
			String owner = PolicySettings.option(option).algorithm();
			if (!owner.equals(name)) {
				throw new InvalidConfigurationPropertyValueException(prefix + "." + option, value,
						OTHER.formatted(owner, name));
			}
		});
		if (set.isEmpty()) {
			return algorithm;
		}
		boolean one = set.size() == 1;
		return PolicyReader.read(one ? prefix + "." + set.keySet().iterator().next() : prefix,
				one ? set.values().iterator().next() : SetOptions.part(set),
				() -> supporting(limits, settings.withOptions(algorithm)));
	}

	private Algorithm get(String policy, String name) {
		Algorithm object = this.declared.algorithm(policy);
		String known = Algorithms.find(name).map(Algorithm::name).orElse(name);
		return (object != null && object.name().equals(known)) ? usable(name, object) : get(name);
	}

	private static Algorithm supporting(List<Limit> limits, Algorithm algorithm) {
		algorithm.requireSupported(limits.stream().sorted(Comparator.comparing(Limit::window)).toList());
		return algorithm;
	}

	/** Returns the algorithm of a plan, whose burst must suit its limits. */
	static Algorithm withBurst(String property, @Nullable Long burst, List<Limit> limits, Algorithm algorithm) {
		if (burst == null) {
			return algorithm;
		}
		return PolicyReader.read(property, burst, () -> {
			TokenBucket bucket = new TokenBucket(burst);
			if (!(algorithm instanceof TokenBucket)) {
				throw new IllegalArgumentException(OTHER.formatted(bucket.name(), algorithm.name()));
			}
			return supporting(limits, bucket);
		});
	}

}
