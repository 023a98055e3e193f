package io.github.ratelimit.spring.policy;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;

import org.springframework.beans.BeanInstantiationException;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.context.ApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.ClassUtils;

/**
 * The algorithms that policies may name: first those of the library, then those that
 * policies in code have as objects, then {@link Algorithm} beans by bean name, then
 * classes with a constructor without parameters.
 */
public final class NamedAlgorithms {

	private final ApplicationContext context;

	private final DeclaredPolicies declared;

	/**
	 * Collects the algorithms of an application.
	 * @throws InvalidBeanException if a bean has the name of an algorithm of the library
	 */
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
		return Algorithms.find(name).orElseGet(() -> own(name));
	}

	private Algorithm own(String name) {
		Algorithm algorithm = find(name);
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

	private Algorithm find(String name) {
		Algorithm declared = this.declared.algorithm(name);
		return (declared != null) ? declared : this.context.containsBean(name) ? ofBean(name) : ofClass(name);
	}

	private Algorithm ofBean(String name) {
		if (!this.context.isTypeMatch(name, Algorithm.class)) {
			Class<?> type = this.context.getType(name);
			throw invalid(name, "the bean of that name is not an Algorithm, but of type %s."
				.formatted((type != null) ? type.getName() : "null"));
		}
		return this.context.getBean(name, Algorithm.class);
	}

	private Algorithm ofClass(String name) {
		Class<?> type = type(name);
		if (!Algorithm.class.isAssignableFrom(type)) {
			throw invalid(name, "the class does not implement Algorithm.");
		}
		try {
			return (Algorithm) BeanUtils.instantiateClass(type.getDeclaredConstructor());
		}
		catch (NoSuchMethodException ex) {
			throw invalid(name, "the class has no constructor without parameters: add one, or use a bean.");
		}
		catch (BeanInstantiationException ex) {
			throw invalid(name, "the class cannot be instantiated: %s"
				.formatted(NestedExceptionUtils.getMostSpecificCause(ex).getMessage()));
		}
	}

	/** A name without a dot is not looked up, because it is not that of a class. */
	private Class<?> type(String name) {
		try {
			if (name.contains(".")) {
				return ClassUtils.forName(name, this.context.getClassLoader());
			}
			throw unknown(name, "");
		}
		catch (ClassNotFoundException ex) {
			throw unknown(name, " There is no such class either.");
		}
		catch (LinkageError ex) {
			throw invalid(name, "the class cannot be loaded: %s.".formatted(ex));
		}
	}

	private IllegalArgumentException unknown(String name, String more) {
		List<String> beans = beans();
		String library = Algorithms.all().stream().map(Algorithm::name).collect(Collectors.joining(", "));
		List<String> known = Stream.concat(Algorithms.all().stream().map(Algorithm::name), beans.stream()).toList();
		return invalid(name,
				"must be one of %s%s.%s%s".formatted(library,
						beans.isEmpty() ? "" : ", or of the Algorithm beans " + String.join(", ", beans), more,
						NearestNames.question(name, known)));
	}

	private static IllegalArgumentException invalid(String name, String rule) {
		return new IllegalArgumentException("Invalid algorithm (%s): %s".formatted(name, rule));
	}

}
