package io.github.ratelimit.spring.config;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.spring.StarterRunners;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The manifests for Kubernetes in the documentation: an application starts with what they
 * hand to it, and each property and environment variable that they name exists.
 */
class DocumentedKubernetesTests {

	private static final Path DOCS = Path.of("..", "docs");

	private static final Pattern PROPERTY = Pattern.compile("(?m)^\\| `(ratelimit\\.[^`]+)`");

	/** Properties with a name that users choose. */
	private static final Pattern CHOSEN = Pattern
		.compile("^(ratelimit\\.policies|management\\.endpoint\\.health\\.group)\\.[^.]+");

	private final List<String> kinds = new ArrayList<>();

	/** Settings of files, whose names are those of properties. */
	private final List<EnumerablePropertySource<?>> files = new ArrayList<>();

	private final Map<String, Object> environment = new HashMap<>();

	DocumentedKubernetesTests() throws IOException {
		for (String example : DocumentedConfigurationTests.yaml("docs/kubernetes.md")) {
			for (Object document : new Yaml().loadAll(example)) {
				JsonNode manifest = JsonMapper.shared().valueToTree(document);
				if (manifest.has("kind")) {
					read(manifest);
				}
				else {
					addFile(example);
				}
			}
		}
	}

	private void read(JsonNode manifest) {
		assertThat(manifest.path("apiVersion").asString("")).isNotEmpty();
		assertThat(manifest.at("/metadata/name").asString("")).isNotEmpty();
		this.kinds.add(manifest.path("kind").stringValue());
		if (manifest.has("data")) {
			addFile(manifest.path("data").path("application.yml").stringValue());
		}
		Map<String, Object> secrets = new HashMap<>();
		manifest.path("stringData").forEachEntry((name, value) -> secrets.put(name, value.stringValue()));
		this.files.add(new MapPropertySource("secrets " + this.kinds.size(), secrets));
		manifest.at("/spec/template/spec/containers")
			.forEach((container) -> container.path("env")
				.forEach((variable) -> this.environment.put(variable.path("name").stringValue(),
						variable.path("value").asString("from the environment"))));
	}

	private void addFile(String yaml) {
		StarterRunners.yaml("file " + this.files.size(), yaml)
			.forEach((source) -> this.files.add((EnumerablePropertySource<?>) source));
	}

	@Test
	void applicationStartsWithWhatTheManifestsHandToIt() {
		assertThat(this.kinds).containsExactly("ConfigMap", "Deployment", "Secret", "Service", "NetworkPolicy");
		StarterRunners.web().withInitializer((context) -> {
			MutablePropertySources sources = context.getEnvironment().getPropertySources();
			this.files.forEach(sources::addFirst);
			sources.addFirst(new SystemEnvironmentPropertySource("pod-systemEnvironment", this.environment));
		}).run((context) -> {
			assertThat(context).hasNotFailed();
			RateLimitProperties properties = context.getBean(RateLimitProperties.class);
			assertThat(properties.instances()).isEqualTo(4);
			assertThat(properties.identifierSecret()).isEqualTo("from the environment");
			assertThat(properties.redis().password()).isEqualTo("from the environment");
		});
	}

	@Test
	void propertiesAndVariablesExist() throws IOException {
		Set<String> known = known();
		assertThat(this.files.stream().flatMap((file) -> Stream.of(file.getPropertyNames()))).hasSizeGreaterThan(12)
			.extracting((name) -> CHOSEN.matcher(name).replaceFirst("$1.NAME").replaceAll("\\[\\d+]", ""))
			.isSubsetOf(known);
		assertThat(this.environment.keySet()).hasSizeGreaterThan(3)
			.isSubsetOf(known.stream()
				.map((name) -> name.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT))
				.toList());
	}

	/** Our properties, and those of Spring Boot. */
	private static Set<String> known() throws IOException {
		Set<String> names = PROPERTY.matcher(Files.readString(DOCS.resolve("configuration.md")))
			.results()
			.map((match) -> match.group(1))
			.collect(Collectors.toCollection(TreeSet::new));
		for (URL metadata : Collections.list(DocumentedKubernetesTests.class.getClassLoader()
			.getResources("META-INF/spring-configuration-metadata.json"))) {
			try (InputStream json = metadata.openStream()) {
				JsonMapper.shared()
					.readTree(json)
					.path("properties")
					.forEach((property) -> names.add(property.path("name").stringValue()));
			}
		}
		names.add("management.endpoint.health.group.NAME.include");
		return names;
	}

}
