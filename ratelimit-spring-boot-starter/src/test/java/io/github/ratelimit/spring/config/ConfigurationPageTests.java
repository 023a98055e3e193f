package io.github.ratelimit.spring.config;

import java.io.IOException;
import java.nio.file.Files;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ConfigurationPage}.
 */
class ConfigurationPageTests {

	@Test
	void pageIsWhatTheMetadataSays() throws IOException {
		assertThat(Files.readString(ConfigurationPage.PAGE))
			.as("docs/configuration.md is stale: see CONTRIBUTING.md for how to write it again")
			.isEqualTo(ConfigurationPage.text());
	}

	@Test
	void everyPropertyIsDescribed() throws IOException {
		assertThat(ConfigurationPage.text().lines().filter((line) -> line.startsWith("| `"))).hasSizeGreaterThan(30)
			.allSatisfy((line) -> assertThat(line).matches(
					"\\| `(ratelimit|management\\.(endpoint|health)\\.ratelimits?)\\..+` \\| .+ \\| .* \\| .{10,} \\|"));
	}

}
