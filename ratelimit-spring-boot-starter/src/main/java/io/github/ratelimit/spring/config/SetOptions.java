package io.github.ratelimit.spring.config;

import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.ReflectionUtils;

/**
 * Reads settings by the names of their options. Settings are records, of which native
 * images keep the parameters of the constructor.
 *
 * @since 0.1
 */
public final class SetOptions {

	/** The units of durations, the largest first. */
	private static final List<ChronoUnit> UNITS = List.of(ChronoUnit.DAYS, ChronoUnit.HOURS, ChronoUnit.MINUTES,
			ChronoUnit.SECONDS, ChronoUnit.MILLIS, ChronoUnit.MICROS, ChronoUnit.NANOS);

	private SetOptions() {
	}

	/**
	 * Returns the options of settings that are set: those that are neither {@code null}
	 * nor empty.
	 */
	static Map<String, Object> of(Record settings) {
		Map<String, Object> values = new LinkedHashMap<>();
		parameters(settings.getClass()).forEach((option) -> {
			Object value = value(option, settings);
			if (value != null && isSet(value, option)) {
				values.put(name(option), value);
			}
		});
		return values;
	}

	/** Returns the options of an algorithm of the library that are not the default. */
	static Map<String, Object> of(Algorithm algorithm) {
		Map<String, Object> values = new LinkedHashMap<>();
		Algorithms.find(algorithm.name())
			.ifPresent((standard) -> parameters(PolicySettings.class)
				.filter((option) -> PolicySettings.option(name(option)).algorithm().equals(algorithm.name()))
				.forEach((option) -> {
					Object value = value(option, algorithm);
					if (value != null && !value.equals(value(option, standard))) {
						values.put(name(option), value);
					}
				}));
		return values;
	}

	private static @Nullable Object value(Parameter option, Object object) {
		Method accessor = ReflectionUtils.findMethod(object.getClass(), option.getName());
		return ReflectionUtils.invokeMethod(Objects.requireNonNull(accessor), object);
	}

	private static boolean isSet(Object value, Parameter option) {
		if (value instanceof Collection<?> list) {
			return !list.isEmpty();
		}
		return (value instanceof Map<?, ?> map) ? !map.isEmpty()
				: option.getType() != boolean.class || value.equals(true);
	}

	/** Returns the parameters that stand for the options of a type of settings. */
	public static Stream<Parameter> parameters(Class<?> settings) {
		return Stream.of(settings.getDeclaredConstructors()[0].getParameters());
	}

	/** Returns the name of an option as in configuration. */
	public static String name(Parameter option) {
		return DataObjectPropertyName.toDashedForm(option.getName());
	}

	/** Returns a value as it is written in YAML. */
	static String text(Object value) {
		if (value instanceof Duration duration) {
			return durationText(duration);
		}
		if (value instanceof Enum<?> constant) {
			return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
		}
		if (value instanceof Collection<?> list) {
			return list.stream().map(SetOptions::part).collect(Collectors.joining(", "));
		}
		if (value instanceof Map<?, ?> group) {
			return group.entrySet()
				.stream()
				.map((option) -> option.getKey() + ": " + part(option.getValue()))
				.collect(Collectors.joining(", "));
		}
		return isGroup(value) ? text(of((Record) value)) : value.toString();
	}

	/** Returns a duration in the largest unit of which it is a whole number. */
	private static String durationText(Duration duration) {
		ChronoUnit largest = UNITS.stream()
			.filter((unit) -> duration.equals(duration.truncatedTo(unit)))
			.findFirst()
			.orElse(ChronoUnit.NANOS);
		return DurationStyle.SIMPLE.print(duration, duration.isZero() ? ChronoUnit.SECONDS : largest);
	}

	/** Returns a value within others as it is written in YAML. */
	static String part(@Nullable Object value) {
		return (value == null) ? "not set" : (value instanceof Map || isGroup(value)) ? "{ " + text(value) + " }"
				: (value instanceof Collection<?> list && list.size() > 1) ? "[" + text(value) + "]" : text(value);
	}

	private static boolean isGroup(Object value) {
		return value.getClass().getNestHost() == PolicySettings.class;
	}

	/** Returns the names of options that have other values, or are set only once. */
	static Set<String> differences(Map<String, Object> options, Map<String, Object> others) {
		Set<String> names = new TreeSet<>(options.keySet());
		names.addAll(others.keySet());
		names.removeIf((name) -> Objects.equals(options.get(name), others.get(name)));
		return names;
	}

	/** Returns settings of a policy with some options. */
	static PolicySettings toPolicy(Map<String, Object> options) {
		return (PolicySettings) BeanUtils.instantiateClass(PolicySettings.class.getDeclaredConstructors()[0],
				parameters(PolicySettings.class)
					.map((option) -> options.getOrDefault(name(option), unset(option.getType())))
					.toArray());
	}

	private static @Nullable Object unset(Class<?> type) {
		return (type == List.class) ? List.of() : (type == Map.class) ? Map.of() : null;
	}

}
