package io.github.ratelimit.spring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The builds of Javadoc and of the comparison with a release leave out exactly the
 * packages whose description says that they are internal.
 */
class InternalPackagesTests {

	private static final Pattern PROPERTY = Pattern.compile("<internal\\.packages>(.+)</internal\\.packages>");

	private static final Pattern EXCLUDE = Pattern.compile("<exclude>(io\\.github\\.ratelimit\\.[^<]+)</exclude>");

	private static final Path STARTER = Path.of("");

	private static final Path CORE = Path.of("..", "ratelimit-core");

	@Test
	void javadocLeavesOutInternalPackages() throws IOException {
		assertThat(withoutJavadoc(STARTER)).isEqualTo(internal(STARTER));
		assertThat(withoutJavadoc(CORE)).isEqualTo(internal(CORE));
	}

	@Test
	void comparisonWithReleaseLeavesOutInternalPackages() throws IOException {
		List<String> excludes = EXCLUDE.matcher(Files.readString(Path.of("..", "pom.xml")))
			.results()
			.map((match) -> match.group(1))
			.sorted()
			.toList();

		assertThat(excludes).isEqualTo(Stream.concat(internal(CORE).stream(), internal(STARTER).stream()).toList());
	}

	private static List<String> withoutJavadoc(Path module) throws IOException {
		return PROPERTY.matcher(Files.readString(module.resolve("pom.xml")))
			.results()
			.flatMap((match) -> Stream.of(match.group(1).split(":")))
			.sorted()
			.toList();
	}

	private static List<String> internal(Path module) throws IOException {
		Path sources = module.resolve(Path.of("src", "main", "java"));
		try (Stream<Path> files = Files.walk(sources)) {
			return files.filter((file) -> file.endsWith("package-info.java") && isInternal(file))
				.map((file) -> sources.relativize(file.getParent()).toString().replaceAll("[/\\\\]", "."))
				.sorted()
				.toList();
		}
	}

	private static boolean isInternal(Path description) {
		try {
			return Files.readString(description).contains("Internal:");
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
