package io.github.ratelimit.redis;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import javax.tools.ToolProvider;

import io.github.ratelimit.test.JedisClients;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The examples of the documentation without Spring, in a process of their own, in which
 * nothing is loaded or connected yet.
 */
@Timeout(120)
@EnabledIf(value = "areNewClients", disabledReason = "The example needs RedisClient, which Jedis has had since 7.2")
class DocumentedExampleIT {

	@TempDir
	private Path folder;

	@AutoClose
	private final OwnRedis redis = new OwnRedis();

	static boolean areNewClients() {
		return JedisClients.areNew();
	}

	@ParameterizedTest
	@ValueSource(strings = { "start.md", "leases.md" })
	void exampleDecidesInANewProcess(String page) throws Exception {
		Path source = this.folder.resolve("Example.java");
		Files.writeString(source, example(Files.readString(Path.of("..", "docs", page))));
		String path = System.getProperty("java.class.path");
		assertThat(ToolProvider.getSystemJavaCompiler()
			.run(null, null, null, "-proc:none", "-cp", path, "-d", this.folder.toString(), source.toString()))
			.isZero();
		assertThat(run(path + File.pathSeparator + this.folder)).doesNotContain("Not decided", "Exception");
		assertThat(this.redis.jedis().dbSize()).isPositive();
	}

	private String example(String page) {
		String start = "```java\n";
		int begin = page.lastIndexOf(start + "import ") + start.length();
		List<String> lines = page.substring(begin, page.indexOf("```", begin)).lines().toList();
		return lines.stream().filter((line) -> line.startsWith("import ")).collect(Collectors.joining("\n"))
				+ "\nclass Example { public static void main(String[] args) throws Exception {\n"
				+ lines.stream()
					.filter((line) -> !line.startsWith("import "))
					.collect(Collectors.joining("\n"))
					.replace("localhost:6379", "127.0.0.1:" + this.redis.port())
					.replace("\"localhost\", 6379", "\"127.0.0.1\", " + this.redis.port())
				+ "\n} }\n";
	}

	private String run(String path) throws IOException, InterruptedException {
		Path output = this.folder.resolve("output");
		Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				path, "Example")
			.redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
		return Files.readString(output);
	}

}
