package io.github.ratelimit.spring.web;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;

/**
 * Uses Tomcat for the applications of tests, though Jetty is on the class path too: tests
 * choose that by {@link JettyServer}.
 */
public final class TomcatByDefault implements AutoConfigurationImportFilter {

	@Override
	public boolean[] match(@Nullable String[] autoConfigurationClasses, AutoConfigurationMetadata metadata) {
		boolean[] matches = new boolean[autoConfigurationClasses.length];
		for (int i = 0; i < matches.length; i++) {
			String name = autoConfigurationClasses[i];
			matches[i] = name != null && !name.startsWith("org.springframework.boot.jetty.");
		}
		return matches;
	}

}
