package io.github.ratelimit.spring.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.EnumerablePropertySource;

/**
 * The names of policies, plans and custom identifiers, which are keys of maps.
 * <p>
 * A name from an environment variable is that of a file with the same letters:
 * {@code RATELIMIT_POLICIES_MYAPI_LIMITS} belongs to the policy {@code my-api}, and does
 * not define a second one. All other sources must have one spelling, which Spring Boot
 * does not change.
 */
final class MapKeys {

	/** An element of a name as it is written: in brackets, or between dots. */
	private static final Pattern ELEMENT = Pattern.compile("\\[([^]]*)]|[^.\\[]+");

	/** What Spring Boot does not change if it is not in brackets. */
	private static final Pattern UNCHANGED = Pattern.compile("\\w[\\w-]*");

	/** The names up to a key as variables have them, by their letters. */
	private final Map<String, List<Key>> variables = new HashMap<>();

	private final Map<String, Key> written = new HashMap<>();

	/**
	 * Reads the keys.
	 * @throws HiddenValueException if there are names that would not be what their source
	 * says: each of two that are the same to Spring Boot, such as my-api and myApi, would
	 * get the properties of both, and others lose letters
	 */
	MapKeys(Iterable<ConfigurationPropertySource> sources) {
		// The weakest source first: a file is before the profile that overrides it.
		List<EnumerablePropertySource<?>> all = new ArrayList<>();
		for (ConfigurationPropertySource source : sources) {
			if (source.getUnderlyingSource() instanceof EnumerablePropertySource<?> enumerable) {
				all.add(0, enumerable);
			}
		}
		for (EnumerablePropertySource<?> source : all) {
			boolean variables = EnvironmentSettings.isOfVariables(source);
			for (String property : source.getPropertyNames()) {
				read(variables ? property.replace('_', '.').toLowerCase(Locale.ROOT) : property, variables,
						PropertySourceOrigin.get(source, property));
			}
		}
		this.variables.forEach((letters, keys) -> {
			if (!this.written.containsKey(letters)) {
				keys.forEach((key) -> requireSame(key, keys.get(0)));
			}
		});
	}

	/** Returns the name of an element of a map, in brackets if it would be changed. */
	static String element(String map, String key) {
		return map + (UNCHANGED.matcher(key).matches() ? "." + key : "[" + key + "]");
	}

	private void read(String property, boolean variable, @Nullable Origin origin) {
		if (!property.regionMatches(true, 0, "rate", 0, 4)) {
			return;
		}
		List<String> elements = ELEMENT.matcher(property).results().map(MatchResult::group).toList();
		if (!letters(elements.get(0)).equals("ratelimit")) {
			return;
		}
		for (int index : keys(elements)) {
			String text = elements.get(index);
			Key key = new Key(elements.subList(0, index),
					text.startsWith("[") ? text.substring(1, text.length() - 1) : text,
					elements.subList(0, index + 1).stream().map(MapKeys::letters).collect(Collectors.joining(".")),
					origin);
			if (variable) {
				this.variables.computeIfAbsent(key.letters(), (letters) -> new ArrayList<>()).add(key);
				continue;
			}
			requireUnchanged(text, property, origin);
			requireSame(key, this.written.getOrDefault(key.letters(), key));
			this.written.putIfAbsent(key.letters(), key);
		}
	}

	private static void requireSame(Key key, Key other) {
		if (!other.text().equals(key.text())) {
			throw new HiddenValueException(key.name(), key.text(),
					"Is the same name to Spring Boot as '%2$s' (originating from '%3$s'), because it ignores capital letters, hyphens and underscores outside of brackets. If they are one, write '%1$s' in both places; if not, rename one of them, or write it in brackets and quotes: \"[%4$s]\"."
						.formatted(other.text(), other.name(), other.origin(), key.text()),
					key.origin());
		}
	}

	/** Returns which elements of the name of a property are keys of a map. */
	private static List<Integer> keys(List<String> elements) {
		String map = (elements.size() < 3) ? "" : letters(elements.get(1));
		if (map.equals("identifiers")) {
			return List.of(2);
		}
		return !map.equals("policies") ? List.of()
				: (elements.size() > 4 && letters(elements.get(3)).equals("plans")) ? List.of(2, 4) : List.of(2);
	}

	private static void requireUnchanged(String text, String property, @Nullable Origin origin) {
		String rule = text.equals("[true]") || text.equals("[false]")
				? "YAML reads words such as NO, off, Yes and on as false or true: write such a name in quotes, as in \"NO\"."
				: UNCHANGED.matcher(text).matches() || text.startsWith("[") ? null
						: "Spring Boot would leave out all but letters, digits, hyphens and underscores: write the name in brackets and quotes, as in \"[%s]\"."
							.formatted(text);
		if (rule != null) {
			throw new HiddenValueException(property.substring(0, property.indexOf(text) + text.length()), text, rule,
					origin);
		}
	}

	/** Returns the part of an element that Spring Boot compares. */
	private static String letters(String element) {
		return element.startsWith("[") ? element.substring(1, element.length() - 1)
				: element.toLowerCase(Locale.ROOT).replaceAll("[-_]", "");
	}

	/** Returns a map without the keys of variables that a file spells differently. */
	Map<?, ?> withoutVariables(ConfigurationPropertyName name, Map<?, ?> map) {
		if (this.variables.isEmpty()) {
			return map;
		}
		String parent = IntStream.range(0, name.getNumberOfElements())
			.mapToObj((i) -> name.getElement(i, Form.UNIFORM))
			.collect(Collectors.joining("."));
		Map<Object, Object> left = new LinkedHashMap<>(map);
		this.variables.forEach((letters, keys) -> {
			Key file = this.written.get(letters);
			keys.stream()
				.filter((key) -> file != null && !file.text().equals(key.text())
						&& letters.equals(parent + "." + letters(key.text())))
				.forEach((key) -> left.remove(key.text()));
		});
		return left;
	}

	/** A key, without brackets; its letters are the same in all spellings of the name. */
	private record Key(List<String> before, String text, String letters, @Nullable Origin origin) {

		/** Returns the name for messages. */
		String name() {
			return PolicyReader.element((this.before.size() == 2) ? "ratelimit." + this.before.get(1)
					: PolicyReader.property(this.before.get(2).replaceAll("[\\[\\]]", ""), "." + this.before.get(3)),
					this.text);
		}

	}

}
