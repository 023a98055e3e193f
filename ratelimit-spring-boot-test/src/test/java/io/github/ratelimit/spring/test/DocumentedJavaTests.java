package io.github.ratelimit.spring.test;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The Java examples in the documentation. Each of them compiles as a file, or as the
 * members of a class, or as statements. It may leave out imports of Java, Spring and
 * JUnit, and use what the reader has ({@link #YOURS}); a body {@code ...} stands for any.
 */
class DocumentedJavaTests {

	private static final Path ROOT = Path.of("..");

	private static final Pattern EXAMPLE = Pattern.compile("(?m)^```java\\n(.*?)^```", Pattern.DOTALL);

	private static final String IMPORTS = """
			import java.time.*;
			import java.util.*;
			import java.util.concurrent.*;
			import java.util.stream.*;
			import org.junit.jupiter.api.*;
			import org.springframework.beans.factory.annotation.*;
			import org.springframework.context.annotation.Bean;
			import org.springframework.stereotype.*;
			import org.springframework.web.bind.annotation.*;
			""";

	/** What examples name, but is not theirs to show. */
	private static final String YOURS = """
			abstract class Yours {
				record Order(String customerId) { }
				record Receipt() { }
				record Export() { }
				record Prompt() { }
				record Completion(long tokens) { }
				interface Model { Completion complete(Prompt prompt); }
				interface Prices { reactor.core.publisher.Mono<Long> price(String item); }
				interface Stock { reactor.core.publisher.Mono<Boolean> check(String item); }
				interface Accounts {
					String planOf(String user);
					java.util.List<io.github.ratelimit.Limit> limitsOf(String tenant);
				}
				record DailyAllowance(int hour) implements io.github.ratelimit.Algorithm {
					public String name() { return "daily-allowance"; }
					public String code() { return "da" + hour; }
					public io.github.ratelimit.Meter meter(java.util.List<io.github.ratelimit.Limit> limits,
							io.github.ratelimit.MeterState state, long nowMicros) { return null; }
				}
				Model model;
				Prices prices;
				Stock stock;
				String address;
				String name;
				org.slf4j.Logger log;
			}
			""";

	/** Of Spring Cloud, which is not on the class path. */
	private static final String CHANGE_EVENT = """
			package org.springframework.cloud.context.environment;
			public class EnvironmentChangeEvent extends org.springframework.context.ApplicationEvent {
				public EnvironmentChangeEvent(Object source) { super(source); }
			}
			""";

	static List<Example> examples() throws IOException {
		List<Example> examples = new ArrayList<>();
		for (String page : pages()) {
			Matcher matcher = EXAMPLE.matcher(Files.readString(ROOT.resolve(page)));
			while (matcher.find()) {
				examples.add(new Example(page, matcher.group(1)));
			}
		}
		assertThat(examples).hasSizeGreaterThan(10);
		return examples;
	}

	@ParameterizedTest
	@MethodSource("examples")
	void exampleCompiles(Example example, @TempDir Path classes) {
		String imports = IMPORTS + example.lines(true);
		String code = example.lines(false).replace("{ ... }", "{ throw new UnsupportedOperationException(); }");
		List<String> forms = List.of(code, "class Example extends Yours { %s }".formatted(code),
				"class Example extends Yours { void example() throws Exception { %s } }".formatted(code));
		List<String> errors = forms.stream().map((form) -> compile(imports + form, classes)).toList();
		assertThat(errors).as("Errors as a file, as members, and as statements").contains("");
	}

	private static List<String> pages() throws IOException {
		try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
			return Stream.concat(Stream.of("README.md"),
					files.map((file) -> "docs/" + file.getFileName()).filter((name) -> name.endsWith(".md")).sorted())
				.toList();
		}
	}

	/** Returns the errors of the compiler. */
	private static String compile(String example, Path classes) {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		StringWriter errors = new StringWriter();
		List<String> options = List.of("-proc:none", "-nowarn", "-d", classes.toString(), "-classpath",
				System.getProperty("java.class.path"));
		boolean compiled = compiler
			.getTask(errors, null, null, options, null,
					Stream.of(example, YOURS, CHANGE_EVENT).map(DocumentedJavaTests::source).toList())
			.call();
		return compiled ? "" : errors.toString();
	}

	private static JavaFileObject source(String code) {
		String name = code.contains("class EnvironmentChangeEvent ")
				? "org/springframework/cloud/context/environment/EnvironmentChangeEvent.java" : "Example.java";
		return new SimpleJavaFileObject(URI.create("string:///" + name), JavaFileObject.Kind.SOURCE) {

			@Override
			public CharSequence getCharContent(boolean ignoreEncodingErrors) {
				return code;
			}

		};
	}

	private record Example(String page, String code) {

		String lines(boolean imports) {
			return this.code.lines()
				.filter((line) -> line.startsWith("import ") == imports)
				.collect(Collectors.joining("\n", "", "\n"));
		}

	}

}
