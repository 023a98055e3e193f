package io.github.ratelimit.spring.config.diagnosis;

import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

import io.github.ratelimit.spring.config.PolicySettings;
import io.github.ratelimit.spring.config.PolicySettings.PlanSettings;
import io.github.ratelimit.spring.config.PolicySettings.RouteSettings;
import io.github.ratelimit.spring.config.RedisProperties;
import io.github.ratelimit.spring.config.SetOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** Describes how the value of a property is written, to follow "must be" in messages. */
final class PropertyForm {

	private static final Map<Class<?>, String> OF_TYPES = Map.of(Duration.class,
			"a duration such as 100ms, 10s, 5m, 1h or 1d", ZoneId.class, "a time zone such as Europe/Paris or UTC",
			Long.class, "a whole number", Integer.class, "a whole number", Double.class, "a number such as 0.5",
			Boolean.class, "true or false");

	private static final Map<Class<?>, String> OF_GROUPS = Map.of(PolicySettings.class,
			"a policy such as { limits: 10/s, paths: /api/** }", PlanSettings.class,
			"a plan such as { limits: 1000/h }", RouteSettings.class,
			"a route such as { paths: POST /orders/**, cost: 2 }", RedisProperties.class,
			"a group of properties such as { url: redis://localhost:6379 }");

	private static final Map<Class<?>, String> OF_GROUPS_BY_NAME = Map.of(PolicySettings.class,
			"policies by name, such as { search: { limits: 10/s, paths: /api/** } }", PlanSettings.class,
			"plans by name, such as { pro: { limits: 1000/h } }", String.class,
			"expressions by name, such as { tenant: \"#principal.claims['tenant']\" }");

	private PropertyForm() {
	}

	/**
	 * Returns the form of a property.
	 * @param name the name of the property
	 * @param type its type
	 * @return the form; {@code null} if there is nothing to say about it
	 */
	static @Nullable String of(ConfigurationPropertyName name, ResolvableType type) {
		Class<?> raw = type.resolve(Object.class);
		if (Map.class.isAssignableFrom(raw)) {
			return OF_GROUPS_BY_NAME.get(type.getGeneric(1).resolve(Object.class));
		}
		if (List.class.isAssignableFrom(raw)) {
			return (type.getGeneric(0).resolve() == RouteSettings.class)
					? "a list of routes such as { paths: POST /orders/**, cost: 2 }"
					: ofText(name) + ", or a list of them";
		}
		if (raw.isEnum()) {
			return "one of " + String.join(", ", constants(raw));
		}
		if (raw.isRecord()) {
			return OF_GROUPS.getOrDefault(raw, "a group of properties: " + String.join(", ", properties(raw)));
		}
		return (raw == String.class) ? ofText(name) : OF_TYPES.get(ClassUtils.resolvePrimitiveIfNecessary(raw));
	}

	/** Returns the constants of an enum as users write them. */
	static List<String> constants(Class<?> type) {
		return Stream.of(type.getEnumConstants())
			.map((constant) -> ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-'))
			.toList();
	}

	/** Returns the names of the properties of a group. */
	static List<String> properties(Class<?> type) {
		return SetOptions.parameters(type).map(SetOptions::name).sorted().toList();
	}

	/** Returns the form of a text, or of an element of a list of texts. */
	private static String ofText(ConfigurationPropertyName name) {
		ConfigurationPropertyName word = name;
		while (word.isLastElementIndexed()) {
			word = word.getParent();
		}
		return switch (word.getLastElement(Form.DASHED)) {
			case "limits" -> "a limit such as 120/m";
			case "identifiers", "reset" -> "an identifier such as ip or header:X-User";
			case "missing-identifier" -> "skip, deny, or an identifier such as header:X-User";
			case "paths", "exclude" -> "a path pattern such as GET /orders/**";
			case "allow", "deny" -> "an identifier with a value, such as ip:203.0.113.0/24";
			case "styles" -> "a header style such as draft";
			case "trusted-proxies" -> "an address or a network such as 10.0.0.0/8";
			case "nodes" -> "a host and a port such as example.com:6379";
			case "algorithm" -> "the name of an algorithm such as token-bucket";
			case "when", "unless" -> "an expression such as #request.getHeader('X-Channel') == 'web'";
			case "count-when" -> "a condition such as status in [401, 403]";
			case "reset-when" -> "a condition such as status in [200, 204]";
			case "plan" -> "an expression such as #principal?.claims['plan']";
			default -> "a text";
		};
	}

}
