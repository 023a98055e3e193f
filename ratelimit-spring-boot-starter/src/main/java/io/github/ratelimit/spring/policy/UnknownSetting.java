package io.github.ratelimit.spring.policy;

import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.ResolvableType;

/**
 * A name below {@code ratelimit} without a property of that name.
 *
 * @param name the name
 * @param index the first element of the name that is unknown
 * @param names the known names of that element; empty if the element before it is a
 * single value
 * @param nearest names of properties that may be meant
 * @param form how the element before it is written; {@code null} if that is a group of
 * properties
 */
record UnknownSetting(ConfigurationPropertyName name, int index, List<String> names, List<String> nearest,
		@Nullable String form) {

	private static final ConfigurationPropertyName OWN = ConfigurationPropertyName.of("ratelimit");

	private static final ConfigurationPropertyName POLICIES = OWN.append("policies");

	/**
	 * Looks up a property.
	 * @param name a name below {@code ratelimit}
	 * @param variable whether it is the name of an environment variable, in which an
	 * underscore replaces a dot or a hyphen
	 * @return what is wrong with the name; empty if there is a property of this name
	 */
	static Optional<UnknownSetting> find(ConfigurationPropertyName name, boolean variable) {
		return Optional.ofNullable(search(name, variable))
			.map((unknown) -> variable ? unknown.asVariable() : unknown.orOfOtherLevel());
	}

	private static @Nullable UnknownSetting search(ConfigurationPropertyName name, boolean variable) {
		return new Search(name, variable).find(ResolvableType.forClass(RateLimitProperties.class), 1, "ratelimit");
	}

	/**
	 * Returns the same, with the properties that it would be with another indentation, if
	 * there are any.
	 */
	private UnknownSetting orOfOtherLevel() {
		List<String> meant = new ArrayList<>();
		if (this.index == 1) {
			ConfigurationPropertyName first = this.name.subName(1).chop(1);
			for (String parent : List.of("ratelimit.defaults", "ratelimit.policies.NAME")) {
				ConfigurationPropertyName known = ConfigurationPropertyName.adapt(parent, '.').append(first);
				if (isValue(known)) {
					meant.add(parent + "." + first);
				}
			}
			ConfigurationPropertyName deeper = POLICIES.append(this.name.subName(1));
			if (meant.isEmpty() && isValue(deeper)) {
				meant.add(deeper.toString());
			}
		}
		else if (POLICIES.isAncestorOf(this.name)) {
			IntStream.range(1, this.name.getNumberOfElements() - 1)
				.filter(this::isMisplaced)
				.mapToObj((i) -> this.name.chop(i).append(this.name.subName(i + 1)))
				.filter(UnknownSetting::isValue)
				.map(ConfigurationPropertyName::toString)
				.forEach(meant::add);
		}
		return meant.isEmpty() ? this : new UnknownSetting(this.name, this.index, this.names, meant, this.form);
	}

	/**
	 * Returns whether an element of the name may be one too many: the policies, an index,
	 * or a text with something below it.
	 */
	private boolean isMisplaced(int element) {
		return element == 1 || this.name.isNumericIndex(element)
				|| (element == this.index - 1 && isText(this.name.chop(this.index)));
	}

	private static boolean isText(ConfigurationPropertyName name) {
		return isValue(name) && search(name.append("[0]"), false) != null;
	}

	/** Returns whether there is a property that is not a group of others. */
	private static boolean isValue(ConfigurationPropertyName name) {
		UnknownSetting below = search(name.append("x"), false);
		return search(name, false) == null && below != null && below.names().isEmpty();
	}

	/** Returns whether there is a property that may be meant. */
	boolean isMisspelt() {
		return !this.nearest.isEmpty();
	}

	/** Returns what to do about it. */
	String action() {
		if (isMisspelt()) {
			return NearestNames.question(this.nearest);
		}
		String parent = this.name.chop(this.index).toString();
		return (this.form != null) ? "Set '%s' to %s.".formatted(parent, this.form)
				: "Remove it, or use one of those below '%s': %s.".formatted(parent, String.join(", ", this.names));
	}

	/** Returns the same with names of environment variables. */
	UnknownSetting asVariable() {
		return new UnknownSetting(this.name, this.index, this.names,
				this.nearest.stream()
					.map((property) -> property.replaceAll("[-\\]]", "").replaceAll("[.\\[]", "_"))
					.map((variable) -> variable.toUpperCase(Locale.ROOT))
					.toList(),
				this.form);
	}

	/**
	 * Walks down the types of the properties along the elements of a name.
	 */
	private record Search(ConfigurationPropertyName name, boolean variable) {

		/**
		 * Looks up the rest of the name.
		 * @param property the property named by the elements before the index
		 * @return what is wrong; null if nothing
		 */
		@Nullable UnknownSetting find(ResolvableType type, int index, String property) {
			Class<?> raw = type.resolve(Object.class);
			int left = this.name.getNumberOfElements() - index;
			if (Map.class.isAssignableFrom(raw)) {
				return findInMap(type, index, property);
			}
			if (Collection.class.isAssignableFrom(raw)) {
				if (left == 0) {
					return null;
				}
				return this.name.isNumericIndex(index)
						? find(type.getGeneric(0), index + 1, property + "[" + element(index) + "]")
						: unknown(index, type);
			}
			if (raw.isRecord()) {
				return (left > 0 && this.name.isNumericIndex(index)) ? unknown(index, type)
						: findInRecord(raw, index, property);
			}
			return (left == 0) ? null : unknown(index, type);
		}

		/** A key is one element of the name; in variables it has no hyphens. */
		private @Nullable UnknownSetting findInMap(ResolvableType type, int index, String property) {
			ResolvableType values = type.getGeneric(1);
			int left = this.name.getNumberOfElements() - index;
			if (left == 0 || BeanUtils.isSimpleValueType(values.resolve(Object.class))) {
				return null;
			}
			UnknownSetting unknown = find(values, index + 1, property + "." + key(index, 1));
			if (unknown == null || !this.variable) {
				boolean list = unknown != null && this.name.isNumericIndex(index);
				return list ? unknown(index, type) : unknown;
			}
			// A key with a hyphen is more likely than a misspelt property.
			for (int elements = 2; elements < left; elements++) {
				String meant = property + "." + key(index, elements);
				if (find(values, index + elements, meant) == null) {
					return new UnknownSetting(this.name, unknown.index(), unknown.names(),
							List.of(meant + "." + this.name.subName(index + elements)), unknown.form());
				}
			}
			return unknown;
		}

		private String key(int index, int elements) {
			return this.variable ? joined(index, elements) : this.name.getElement(index, Form.DASHED);
		}

		private @Nullable UnknownSetting findInRecord(Class<?> type, int index, String property) {
			int left = this.name.getNumberOfElements() - index;
			if (left == 0) {
				// Spring Boot refuses a string in place of a group of properties.
				return null;
			}
			UnknownSetting deepest = null;
			for (int elements = 1; elements <= (this.variable ? left : 1); elements++) {
				Parameter component = component(type, joined(index, elements));
				UnknownSetting unknown = (component != null) ? find(type(component), index + elements,
						property + "." + DataObjectPropertyName.toDashedForm(component.getName())) : null;
				if (component != null && unknown == null) {
					return null;
				}
				deepest = (unknown != null) ? unknown : deepest;
			}
			return (deepest != null) ? deepest : misspelt(type, index, property);
		}

		private UnknownSetting misspelt(Class<?> type, int index, String property) {
			List<String> names = PropertyForm.properties(type);
			int left = this.name.getNumberOfElements() - index;
			Set<String> nearest = new LinkedHashSet<>();
			IntStream.rangeClosed(1, this.variable ? left : 1)
				.boxed()
				.flatMap((elements) -> NearestNames.find(joined(index, elements), names)
					.stream()
					.filter((meant) -> !this.variable || isProperty(type, meant, index + elements))
					.map((meant) -> property + "." + meant + (this.variable ? rest(index + elements) : "")))
				.forEach(nearest::add);
			return new UnknownSetting(this.name, index, names, List.copyOf(nearest), null);
		}

		private boolean isProperty(Class<?> type, String name, int index) {
			Parameter component = component(type, name.replace("-", ""));
			return component != null && find(type(component), index, "") == null;
		}

		private String rest(int index) {
			return (index < this.name.getNumberOfElements()) ? "." + this.name.subName(index) : "";
		}

		private UnknownSetting unknown(int index, ResolvableType parent) {
			return new UnknownSetting(this.name, index, List.of(), List.of(),
					PropertyForm.of(this.name.chop(index), parent));
		}

		private String element(int index) {
			return this.name.getElement(index, Form.UNIFORM);
		}

		private String joined(int index, int elements) {
			StringBuilder text = new StringBuilder();
			IntStream.range(index, index + elements).forEach((i) -> text.append(element(i)));
			return text.toString();
		}

		private static ResolvableType type(Parameter component) {
			return ResolvableType.forType(component.getParameterizedType());
		}

		private static @Nullable Parameter component(Class<?> type, String uniform) {
			return PropertyForm.parameters(type)
				.filter((component) -> component.getName().equalsIgnoreCase(uniform))
				.findFirst()
				.orElse(null);
		}

	}

}
