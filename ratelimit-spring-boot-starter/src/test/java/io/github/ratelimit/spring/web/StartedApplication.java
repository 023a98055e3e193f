package io.github.ratelimit.spring.web;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * Starts the applications of a {@link StartApplication}, one after the other. JUnit
 * closes them.
 */
final class StartedApplication implements ArgumentsProvider, BeforeEachCallback {

	@Override
	public Stream<Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
		Class<?> test = context.getRequiredTestClass();
		StartApplication start = test.getAnnotation(StartApplication.class);
		Class<?> configuration = Arrays.stream(test.getDeclaredClasses())
			.filter((type) -> type.getSimpleName().equals("Application"))
			.findAny()
			.orElse(start.application());
		Map<String, Object> properties = TestApplication.yaml(start.value());
		return Arrays.stream(start.on()).map((container) -> {
			TestApplication application = new TestApplication(container, configuration, start.ownLimiter(), properties);
			store(context).put(TestApplication.class, application);
			return Arguments.of(application);
		});
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		store(context).get(TestApplication.class, TestApplication.class).forget();
	}

	private static Store store(ExtensionContext context) {
		return context.getStore(Namespace.create(StartedApplication.class));
	}

}
