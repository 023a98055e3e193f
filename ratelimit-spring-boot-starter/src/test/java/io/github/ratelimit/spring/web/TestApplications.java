package io.github.ratelimit.spring.web;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The applications that the tests of a class share: one for each configuration with its
 * properties, started by the first test that needs it, and closed after the last test.
 */
final class TestApplications implements AfterAllCallback {

	private final Map<List<Object>, TestApplication> applications = new HashMap<>();

	/** Returns an application in which nothing is counted yet. */
	TestApplication get(Class<?> configuration, String... properties) {
		return get(Container.TOMCAT, configuration, properties);
	}

	/** Returns an application in which nothing is counted yet. */
	TestApplication get(Container container, Class<?> configuration, String... properties) {
		TestApplication application = this.applications.computeIfAbsent(
				List.of(container, configuration, List.of(properties)),
				(key) -> TestApplication.start(container, configuration, properties));
		application.forget();
		return application;
	}

	@Override
	public void afterAll(ExtensionContext context) {
		this.applications.values().forEach(TestApplication::close);
	}

}
