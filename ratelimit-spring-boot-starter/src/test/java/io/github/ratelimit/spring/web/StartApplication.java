package io.github.ratelimit.spring.web;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * Runs the tests of a class against an application: its nested class {@code Application},
 * or a shared one. The class extends {@link WithApplication}; nothing is counted in the
 * application when a test starts.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedClass(name = "{0}")
@ArgumentsSource(StartApplication.Starter.class)
@ExtendWith({ StartApplication.Starter.class, OutputCaptureExtension.class })
@interface StartApplication {

	/** The properties of the application, as YAML. */
	String value() default "";

	/** The containers, on each of which all tests run. */
	Container[] on() default Container.TOMCAT;

	/** The application, if the class has none of its own. */
	Class<?> application() default TestApplication.Served.class;

	/**
	 * Whether requests are counted as the properties say, by default in the tests' Redis.
	 */
	boolean ownLimiter() default false;

	/**
	 * Starts the applications of a {@link StartApplication}, one after the other. JUnit
	 * closes them.
	 */
	final class Starter implements ArgumentsProvider, BeforeEachCallback {

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
				TestApplication application = new TestApplication(container, configuration, start.ownLimiter(),
						properties);
				store(context).put(TestApplication.class, application);
				return Arguments.of(application);
			});
		}

		@Override
		public void beforeEach(ExtensionContext context) {
			store(context).get(TestApplication.class, TestApplication.class).forget();
		}

		private static Store store(ExtensionContext context) {
			return context.getStore(Namespace.create(Starter.class));
		}

	}

}
