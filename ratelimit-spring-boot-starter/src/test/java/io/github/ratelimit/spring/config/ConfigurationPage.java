package io.github.ratelimit.spring.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.spring.config.PolicySettings.PenaltySettings;
import io.github.ratelimit.spring.config.PolicySettings.PlanSettings;
import io.github.ratelimit.spring.config.PolicySettings.RouteSettings;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Writes {@code docs/configuration.md} from the metadata of the properties, which come
 * from their Javadoc.
 */
final class ConfigurationPage {

	static final Path PAGE = Path.of("..", "docs", "configuration.md");

	private static final String METADATA = "/META-INF/spring-configuration-metadata.json";

	private static final String ADDITIONAL = "/META-INF/additional-spring-configuration-metadata.json";

	private static final String NESTED = "/META-INF/spring/configuration-metadata/%s.json";

	private static final String POLICY = "ratelimit.policies.NAME.";

	private ConfigurationPage() {
	}

	/**
	 * Writes the page, from the folder of this module.
	 * @param args none
	 */
	public static void main(String[] args) throws IOException {
		Files.writeString(PAGE, text());
	}

	static String text() throws IOException {
		Map<String, JsonNode> properties = read(METADATA, "");
		properties.putAll(read(ADDITIONAL, ""));
		properties.remove("ratelimit.policies");
		properties.put("ratelimit.identifiers.NAME", properties.remove("ratelimit.identifiers"));
		Map<String, JsonNode> policies = nested(PolicySettings.class, POLICY);
		policies.remove(POLICY + "penalty");
		policies.remove(POLICY + "plans");
		policies.remove(POLICY + "routes");
		policies.putAll(nested(PenaltySettings.class, POLICY + "penalty."));
		policies.putAll(nested(PlanSettings.class, POLICY + "plans.PLAN."));
		policies.putAll(nested(RouteSettings.class, POLICY + "routes[]."));
		return """
				# Configuration

				All properties. With an unknown one the application fails at startup. Generated from the metadata that
				editors use; see [Contributing](../CONTRIBUTING.md).

				## Policies

				`NAME` is the name of a policy, `PLAN` the name of a plan.

				%s
				## Other properties

				`NAME` in `ratelimit.identifiers.NAME` is the name of a custom identifier, as policies use it.

				%s""".formatted(table(policies), table(properties));
	}

	private static Map<String, JsonNode> nested(Class<?> type, String prefix) throws IOException {
		return read(NESTED.formatted(type.getName()), prefix);
	}

	private static Map<String, JsonNode> read(String resource, String prefix) throws IOException {
		Map<String, JsonNode> properties = new TreeMap<>();
		try (InputStream input = ConfigurationPage.class.getResourceAsStream(resource)) {
			for (JsonNode property : JsonMapper.shared().readTree(input).path("properties")) {
				if (!property.has("deprecation")) {
					properties.put(prefix + property.path("name").stringValue(), property);
				}
			}
		}
		return properties;
	}

	private static String table(Map<String, JsonNode> properties) {
		return properties.entrySet()
			.stream()
			.map((property) -> "| `%s` | %s | %s | %s |%n".formatted(property.getKey(), type(property.getValue()),
					defaultValue(property.getValue()),
					property.getValue().path("description").asString("").replace("|", "\\|")))
			.collect(Collectors.joining("", "| property | type | default | |\n|---|---|---|---|\n", ""))
			.replace(System.lineSeparator(), "\n");
	}

	/** Returns the type in the words of a configuration file. */
	private static String type(JsonNode property) {
		String type = property.path("type").stringValue();
		String name = StringUtils.unqualify(type.replaceAll(".*<(.*)>", "$1").replace('$', '.'));
		String word = switch (name) {
			case "String" -> "text";
			case "Integer", "Long" -> "whole number";
			case "Double" -> "number";
			case "Boolean" -> "`true`, `false`";
			case "Duration" -> "duration";
			case "ZoneId" -> "time zone";
			default -> constants(type);
		};
		return List.of("java.util.List", "java.util.Set").stream().anyMatch(type::startsWith) ? "list of " + word
				: word;
	}

	private static String constants(String type) {
		String element = type.replaceAll(".*<(.*)>", "$1");
		return Stream
			.of(ClassUtils.resolveClassName(element, ConfigurationPage.class.getClassLoader()).getEnumConstants())
			.map((constant) -> "`" + constant.toString().toLowerCase(Locale.ROOT).replace('_', '-') + "`")
			.collect(Collectors.joining(", "));
	}

	private static String defaultValue(JsonNode property) {
		String value = property.path("defaultValue").asString("");
		return value.isEmpty() ? "" : "`" + value.replace("read_only", "read-only") + "`";
	}

}
