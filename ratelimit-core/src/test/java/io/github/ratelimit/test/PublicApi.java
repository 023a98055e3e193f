package io.github.ratelimit.test;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What users of a module can name: a line for each type and member that they see, without
 * packages whose description says that they are internal. The file {@code api.txt} of the
 * module has these lines, so that every change of them is seen in a review.
 */
public final class PublicApi {

	private static final Path FILE = Path.of("api.txt");

	private static final boolean WRITE = "write".equals(System.getProperty("ratelimit.api"));

	private PublicApi() {
	}

	/**
	 * Compares the API with the file, or writes the file if the system property
	 * {@code ratelimit.api} is {@code write}.
	 * @param type any type of the module in whose folder the test runs
	 */
	public static void assertIsAsWritten(Class<?> type) throws IOException, URISyntaxException {
		List<String> lines = lines(Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()));
		assertThat(lines).isNotEmpty();
		if (WRITE) {
			Files.write(FILE, lines);
		}
		assertThat(lines)
			.as("""
					what users can name. Does a removed or changed line break an application? Then CHANGELOG.md has to say so. \
					-Dratelimit.api=write writes %s again""",
					FILE.toAbsolutePath())
			.containsExactlyElementsOf(Files.readAllLines(FILE));
	}

	private static List<String> lines(Path classes) throws IOException {
		try (Stream<Path> files = Files.walk(classes)) {
			return files.map((file) -> classes.relativize(file).toString().replace('\\', '/'))
				.filter((file) -> file.endsWith(".class") && !file.endsWith("package-info.class"))
				.map((file) -> file.substring(0, file.length() - ".class".length()).replace('/', '.'))
				.map(PublicApi::load)
				.filter((type) -> isVisible(type) && !isInternal(type.getPackageName()))
				.sorted(Comparator.comparing(Class::getName))
				.flatMap(PublicApi::lines)
				.toList();
		}
	}

	private static Class<?> load(String name) {
		try {
			return Class.forName(name, false, PublicApi.class.getClassLoader());
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static boolean isVisible(Class<?> type) {
		Class<?> outer = type.getEnclosingClass();
		return isVisible(type.getModifiers()) && (outer == null || isVisible(outer));
	}

	private static boolean isVisible(int modifiers) {
		return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
	}

	private static boolean isInternal(String name) {
		Path description = Path.of("src", "main", "java").resolve(name.replace('.', '/')).resolve("package-info.java");
		try {
			return Files.readString(description).contains("Internal:");
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Stream<String> lines(Class<?> type) {
		Stream<String> members = Stream
			.<Member>concat(Arrays.stream(type.getDeclaredConstructors()),
					Stream.concat(Arrays.stream(type.getDeclaredMethods()), Arrays.stream(type.getDeclaredFields())))
			.filter((member) -> isVisible(member.getModifiers()) && !member.isSynthetic())
			.map((member) -> "\t" + line(member).replace("synchronized ", ""))
			.sorted();
		return Stream.concat(Stream.of(line(type)), members);
	}

	private static String line(Class<?> type) {
		String supertypes = Stream
			.concat(Stream.ofNullable(type.getGenericSuperclass()), Arrays.stream(type.getGenericInterfaces()))
			.map(Type::getTypeName)
			.collect(Collectors.joining(", "));
		// JDK 17 does not say "sealed" there, and later ones do.
		String text = type.toGenericString().replace("non-sealed ", "").replace("sealed ", "");
		return (type.isSealed() ? "sealed " : "") + text + (supertypes.isEmpty() ? "" : " : " + supertypes);
	}

	private static String line(Member member) {
		if (member instanceof Method method) {
			Object value = method.getDefaultValue();
			String text = (value instanceof Object[] values) ? Arrays.toString(values) : "'" + value + "'";
			return method.toGenericString() + ((value != null) ? " default " + text : "");
		}
		return (member instanceof Constructor<?> constructor) ? constructor.toGenericString()
				: ((Field) member).toGenericString();
	}

}
