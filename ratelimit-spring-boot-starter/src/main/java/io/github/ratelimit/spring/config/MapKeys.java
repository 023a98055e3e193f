package io.github.ratelimit.spring.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
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

	/** An element of a name as it is written: in brackets, or after a dot. */
	private static final String ELEMENT = "(?:^|\\.|(?=\\[))(\\[[^]]*]|[^.\\[]+)";

	private static final Pattern ELEMENTS = Pattern.compile(ELEMENT);

	private static final Pattern KEYS = Pattern
		.compile("(?i)rate[-_]?limit\\.(?:identifiers|policies)%1$s(?:\\.plans%1$s)?".formatted(ELEMENT));

	/** What Spring Boot does not change if it is not in brackets. */
	private static final Pattern UNCHANGED = Pattern.compile("\\w[\\w-]*");

	/** The keys as variables have them, by the letters of their whole names. */
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
		Matcher keys = KEYS.matcher(property);
		if (!keys.lookingAt()) {
			return;
		}
		for (int i = 1; i <= keys.groupCount() && keys.group(i) != null; i++) {
			String name = property.substring(0, keys.end(i));
			String text = keys.group(i).replaceAll("^\\[|]$", "");
			Key key = new Key(name, text, letters(name), origin);
			if (variable) {
				this.variables.computeIfAbsent(key.letters(), (letters) -> new ArrayList<>()).add(key);
			}
			else {
				requireUnchanged(key);
				requireSame(key, this.written.getOrDefault(key.letters(), key));
				this.written.putIfAbsent(key.letters(), key);
			}
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

	private static void requireUnchanged(Key key) {
		boolean inBrackets = key.name().endsWith("]");
		if (inBrackets && (key.text().equals("true") || key.text().equals("false"))) {
			throw new HiddenValueException(key.name(), "[" + key.text() + "]",
					"YAML reads words such as NO, off, Yes and on as false or true: write such a name in quotes, as in \"NO\".",
					key.origin());
		}
		if (!inBrackets && !UNCHANGED.matcher(key.text()).matches()) {
			throw new HiddenValueException(key.name(), key.text(),
					"Spring Boot would leave out all but letters, digits, hyphens and underscores: write the name in brackets and quotes, as in \"[%s]\"."
						.formatted(key.text()),
					key.origin());
		}
	}

	/** Returns what Spring Boot compares of a name. */
	private static String letters(String name) {
		return ELEMENTS.matcher(name)
			.results()
			.map((element) -> element.group(1))
			.map((element) -> element.startsWith("[") ? element.substring(1, element.length() - 1)
					: element.toLowerCase(Locale.ROOT).replaceAll("[-_]", ""))
			.collect(Collectors.joining("."));
	}

	/** Returns a map without the keys of variables that a file spells differently. */
	Map<?, ?> withoutVariables(ConfigurationPropertyName name, Map<?, ?> map) {
		if (this.variables.isEmpty()) {
			return map;
		}
		Map<Object, Object> left = new LinkedHashMap<>(map);
		this.variables.forEach((letters, keys) -> {
			Key file = this.written.get(letters);
			keys.stream()
				.map(Key::text)
				.filter((text) -> file != null && !text.equals(file.text())
						&& letters.equals(letters(name + "." + text)))
				.forEach(left::remove);
		});
		return left;
	}

	/** A key without brackets, its whole name, and the letters of all its spellings. */
	private record Key(String name, String text, String letters, @Nullable Origin origin) {

	}

}
