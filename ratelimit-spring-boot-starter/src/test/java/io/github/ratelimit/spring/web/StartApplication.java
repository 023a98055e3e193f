package io.github.ratelimit.spring.web;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/**
 * Runs the tests of a class against an application: its nested class {@code Application},
 * or a shared one. The class declares a {@link TestApplication} as a parameter; nothing
 * is counted in it when a test starts.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedClass(name = "{0}")
@ArgumentsSource(StartedApplication.class)
@ExtendWith(StartedApplication.class)
@interface StartApplication {

	/** The properties of the application, as YAML. */
	String value() default "";

	/** The containers, on each of which all tests run. */
	Container[] on() default Container.TOMCAT;

	/** The application, if the class has none of its own. */
	Class<?> application() default TestApplication.Served.class;

	/** Whether requests are counted as the properties say. */
	boolean ownLimiter() default false;

}
