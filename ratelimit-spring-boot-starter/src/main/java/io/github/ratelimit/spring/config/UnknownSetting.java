package io.github.ratelimit.spring.config;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.spring.decide.NearestNames;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.ResolvableType;

/**
 * A name below {@code ratelimit} without a property of that name.
 *
 * @param parent what its first elements name
 * @param nearest names of properties that may be meant
 * @since 0.1
 */
public record UnknownSetting(Setting parent, List<String> nearest) {

	private static final ConfigurationPropertyName POLICIES = SettingsBinding.OWN.append("policies");

	/**
	 * Looks up a property.
	 * @param property a property below {@code ratelimit}
	 * @return what is wrong with its name; empty if there is a property of this name
	 */
	public static Optional<UnknownSetting> find(ConfigurationProperty property) {
		ConfigurationPropertyName name = property.getName();
		Setting parent = Setting.like(name)
			.filter((setting) -> setting.name().equals(name) || setting.name().isAncestorOf(name))
			.max(Comparator.comparingInt(Setting::length))
			.orElseThrow();
		Setting map = parent.isKey() ? parent.parent() : null;
		if (parent.name().equals(name) || (map != null && parent.isText())) {
			return Optional.empty();
		}
		if (map != null && name.isNumericIndex(map.length())) {
			parent = map;
		}
		boolean variable = isVariable(property);
		List<String> meant = (variable ? withHyphens(name) : elsewhere(name, parent))
			.map((other) -> other.toString().replace("[NAME]", ".NAME"))
			.toList();
		if (meant.isEmpty()) {
			meant = nearest(name, parent);
		}
		return Optional
			.of(new UnknownSetting(parent, variable ? meant.stream().map(UnknownSetting::variable).toList() : meant));
	}

	static boolean isVariable(ConfigurationProperty property) {
		return property.getSource() != null
				&& EnvironmentSettings.isOfVariables(property.getSource().getUnderlyingSource());
	}

	private static String variable(String property) {
		return property.replaceAll("[-\\]]", "").replaceAll("[.\\[]", "_").toUpperCase(Locale.ROOT);
	}

	/** Compares letters, because underscores of variables may be anything. */
	private static List<String> nearest(ConfigurationPropertyName name, Setting parent) {
		Map<String, String> values = new LinkedHashMap<>();
		Setting.like(name)
			.filter((setting) -> setting.isValue() && parent.name().isAncestorOf(setting.name()))
			.forEach((setting) -> values.put(letters(setting.name()).substring(letters(parent.name()).length()),
					setting.name().toString()));
		return NearestNames.find(letters(name.subName(parent.length())), values.keySet())
			.stream()
			.map(values::get)
			.toList();
	}

	private static String letters(ConfigurationPropertyName name) {
		return name.toString().replaceAll("[-.\\[\\]]", "").toLowerCase(Locale.ROOT);
	}

	/** A policy with a hyphen is more likely than a misspelt property. */
	private static Stream<ConfigurationPropertyName> withHyphens(ConfigurationPropertyName name) {
		return IntStream.range(4, name.getNumberOfElements())
			.mapToObj((end) -> name.chop(2).append(letters(name.chop(end).subName(2))).append(name.subName(end)))
			.filter(Setting::isValue)
			.limit(1);
	}

	/**
	 * Returns the properties that it would be with another indentation. The first element
	 * is the name of a policy only if it is no option of one.
	 */
	private static Stream<ConfigurationPropertyName> elsewhere(ConfigurationPropertyName name, Setting parent) {
		if (parent.length() == 1) {
			List<ConfigurationPropertyName> options = below(Stream.of("defaults", "policies[NAME]"), name).toList();
			return options.isEmpty() ? below(Stream.of("policies"), name) : options.stream();
		}
		if (POLICIES.isAncestorOf(name)) {
			return IntStream.range(1, name.getNumberOfElements() - 1)
				.filter((i) -> i == 1 || name.isNumericIndex(i) || (i == parent.length() - 1 && parent.isText()))
				.mapToObj((i) -> name.chop(i).append(name.subName(i + 1)))
				.filter(Setting::isValue);
		}
		return Stream.empty();
	}

	private static Stream<ConfigurationPropertyName> below(Stream<String> groups, ConfigurationPropertyName name) {
		return groups.map((group) -> SettingsBinding.OWN.append(group).append(name.subName(1)))
			.filter(Setting::isValue);
	}

	/**
	 * A property, or a group of properties.
	 *
	 * @param name its name
	 * @param type its type
	 * @param parent the group of which it is a part; {@code null} for all properties
	 */
	public record Setting(ConfigurationPropertyName name, ResolvableType type, @Nullable Setting parent) {

		/** Returns all settings, with the keys of maps and the index of another name. */
		private static Stream<Setting> like(ConfigurationPropertyName other) {
			return new Setting(SettingsBinding.OWN, ResolvableType.forClass(RateLimitProperties.class), null)
				// A part of a name that was put together cannot be taken.
				.withThoseBelow(ConfigurationPropertyName.adapt(other.toString(), '.'));
		}

		private Stream<Setting> withThoseBelow(ConfigurationPropertyName other) {
			Class<?> raw = this.type.resolve(Object.class);
			Stream<Setting> below = Stream.empty();
			if (raw.isRecord()) {
				below = SetOptions.parameters(raw)
					.map((option) -> new Setting(this.name.append(SetOptions.name(option)),
							ResolvableType.forType(option.getParameterizedType()), this));
			}
			else if (raw == Map.class && length() < other.getNumberOfElements()) {
				below = Stream
					.of(new Setting(this.name.append(other.subName(length()).chop(1)), this.type.getGeneric(1), this));
			}
			else if (raw == List.class) {
				below = IntStream.range(0, other.getNumberOfElements())
					.filter(other::isNumericIndex)
					.mapToObj((i) -> new Setting(this.name.append(other.subName(i).chop(1)), this.type.getGeneric(0),
							this));
			}
			return Stream.concat(Stream.of(this), below.flatMap((setting) -> setting.withThoseBelow(other)));
		}

		/** Returns whether there is a value of a name. */
		private static boolean isValue(ConfigurationPropertyName name) {
			return like(name).anyMatch((setting) -> setting.isValue() && setting.name.equals(name));
		}

		int length() {
			return this.name.getNumberOfElements();
		}

		private boolean isKey() {
			return this.parent != null && this.parent.type.resolve() == Map.class;
		}

		private boolean isText() {
			return BeanUtils.isSimpleValueType(this.type.resolve(Object.class));
		}

		private boolean isValue() {
			return isText() || (this.type.resolve() == List.class
					&& BeanUtils.isSimpleValueType(this.type.getGeneric(0).resolve(Object.class)));
		}

	}

}
