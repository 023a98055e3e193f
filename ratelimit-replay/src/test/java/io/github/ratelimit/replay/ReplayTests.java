package io.github.ratelimit.replay;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import javax.xml.parsers.DocumentBuilderFactory;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.Algorithms;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class ReplayTests {

	@TempDir
	private Path folder;

	private final StringWriter out = new StringWriter();

	private final StringWriter err = new StringWriter();

	private int run(String... arguments) {
		CommandLine line = Replay.commandLine();
		return line.setOut(new PrintWriter(this.out)).setErr(new PrintWriter(this.err)).execute(arguments);
	}

	private String log(String content) throws IOException {
		return Files.writeString(this.folder.resolve("access.log"), content).toString();
	}

	@Test
	void reportSaysWhatIsDenied() throws IOException {
		String log = log(LogTests.lines("192.0.2.1", 0, 10, 20, 30, 61) + LogTests.line("192.0.2.2", 70));
		assertThat(run(log, "--limits", "2/m,9/h", "--algorithm", "sliding-log,fixed-window")).isZero();
		assertThat(this.out.toString().replaceAll(" +", " ")).contains(
				"6 requests of 2 clients (ip), from 2026-01-01T00:00:00Z to 2026-01-01T00:01:10Z",
				"sliding-log 2/m 2 33.33 % 1 50.00 %\n 9/h 0 0.00 % 0 0.00 %\n together 2 33.33 % 1 50.00 % 30s 40s 40s",
				"\nfixed-window 2/m 2 33.33 %", "\n192.0.2.1 5 2 2026-01-01T00:00:20Z 2026-01-01T00:00:30Z 40s")
			.doesNotContain("whole seconds");
		assertThat(this.err.toString()).isEmpty();
	}

	@Test
	void everyAlgorithmIsComparedByDefault() throws IOException {
		assertThat(run(log(LogTests.lines("a", 0, 1, 2)), "--limits", "1/s")).isZero();
		assertThat(this.out.toString().lines().filter((line) -> line.contains(" 1/s "))).hasSize(7)
			.first()
			.asString()
			.startsWith("sliding-window ");
		assertThat(this.out.toString()).contains("whole seconds", "sliding-window denies nobody.");
	}

	@Test
	void policyHasOnlyOptionsOfTheStarter() throws IOException {
		String log = log(LogTests.lines("a", 0, 1, 2, 3) + LogTests.line("b", 90_000));
		assertThat(run(log, "--spare", "50%", "--limits", "1/m,1/d", "--yaml", "--paths", "/a/**,GET /{b:\\d}", "--by",
				"header:X-Key+ip"))
			.isZero();
		String yaml = this.out.toString().substring(this.out.toString().indexOf("    replayed:"));
		assertThat(yaml.lines().skip(1).filter((line) -> !line.isBlank())).map((line) -> line.replaceAll(" +#.*", ""))
			.containsExactly("      paths: [\"/a/**\", \"GET /{b:\\\\d}\"]", "      limits: [1/m, 1/d]",
					"      identifiers: \"header:X-Key+ip\"", "      algorithm: sliding-window", "      mode: shadow");
		String options = Files.readString(Path.of("..", "docs", "configuration.md"));
		assertThat(yaml.lines()
			.skip(1)
			.map((line) -> line.strip().replaceAll(":.*", ""))
			.filter((name) -> !name.isEmpty()))
			.allSatisfy((name) -> assertThat(options).contains("`ratelimit.policies.NAME." + name + "`"));
	}

	@Test
	void requestsThatAreCountedByAddressInsteadAreTold() throws IOException {
		String log = log(LogTests.lines("a", 0, 1) + LogTests.line("b", 2).replace("- -", "- bob"));
		assertThat(run(log, "--limits", "1/s", "--by", "user")).isZero();
		assertThat(this.err.toString()).isEqualToIgnoringNewLines("requests without user, counted by ip: 2");
		assertThat(this.out.toString()).contains("3 requests of 2 clients (user)");
	}

	@Test
	void foundLimitsAreCompared() throws IOException {
		String log = log(LogTests.lines("a", 0, 1, 2, 3, 4) + LogTests.lines("b", 4, 5, 3600));
		assertThat(run(log, "--spare", "50")).isZero();
		assertThat(this.out.toString())
			.contains("all together:  1/s,2/m,3/h (clients denied: 1)", "left out:      d (longer than the log)")
			.containsPattern("(?m)^ +2/m +3 ")
			.doesNotContain("fixed-window", "--limits");
		assertThat(run(log, "--spare", "50", "--limits", "9/m", "--algorithm", "sliding-log,fixed-window")).isZero();
		assertThat(this.out.toString()).contains("all together:  2/m ", "Only the windows of --limits were used",
				"\nfixed-window ");
		assertThat(run(log, "--spare", "50", "--limits", "9/d")).isEqualTo(1);
		assertThat(this.err.toString()).contains("No limit can be found: d (longer than the log)");
	}

	@Test
	void pictureIsWellFormed() throws Exception {
		Path svg = this.folder.resolve("denials.svg");
		assertThat(run(log(LogTests.lines("<&\"", 0, 1, 2, 90)), "--limits", "2/m", "--svg", svg.toString())).isZero();
		Document picture = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(svg.toFile());
		// For each algorithm a bar for each second with requests and one for the denial;
		// and the background.
		assertThat(picture.getElementsByTagName("rect").getLength()).isEqualTo(1 + 7 * (4 + 1));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			                          | Say --limits, such as 10/s,120/m, or --spare, such as 99.9%.
			--limits 3/x              | Invalid limit (3/x): must be quota/window
			--limits 1/s,2/s          | Invalid limits [1/s, 2/s]
			--limits 200000/d -a sliding-log | Invalid limit (200000/d): the quota must be at most 100000
			--limits 1/s --by foo     | Invalid identifier (foo)
			--limits 1/s -a x         | Invalid algorithm (x): must be one of fixed-window
			--limits 1/s --paths x    | Invalid path (x)
			--spare 100.1             | Invalid percentage (100.1): must be from 0% to 100%
			--limits 1/s --paths /{x  | Invalid path (/{x)
			--limits 1/s --field ip   | Invalid field (ip): must be NAME=FIELD
			--limits 1/s --field a=b  | Invalid field (a=b): must be NAME=FIELD
			--limits 1/s --field ip=  | Invalid field (ip=): must be NAME=FIELD
			--limits 1/s --by ip+ip   | Invalid identifier (ip+ip)
			--limits 1/s,2/s --spare 9 | Invalid limits [1/s, 2/s]
			--spare 9 -               | Invalid file (-)
			--limits 1/s FOLDER/./access.log | Invalid file (FOLDER/./access.log): must be there once
			--limits 1/s --svg FOLDER | Invalid svg (FOLDER): must be a file that can be written
			--limits 1/s --svg FOLDER/access.log | Invalid svg (FOLDER/access.log): must be a file
			--limits 1/s --svg FOLDER/no/x.svg | Invalid svg (FOLDER/no/x.svg): must be a file
			--unknown                 | Unknown option
			""")
	void invalidOptionIsNamed(String options, String message) throws IOException {
		String log = log(LogTests.line("a", 0));
		String folder = this.folder.toString();
		assertThat(run((log + ((options != null) ? " " + options.replace("FOLDER", folder) : "")).split(" ")))
			.isEqualTo(2);
		assertThat(this.out.toString()).isEmpty();
		assertThat(this.err.toString()).startsWith(message.replace("FOLDER", folder))
			.endsWith("--help shows all options." + System.lineSeparator());
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void linkIsTheSameFile(boolean symbolic) throws IOException {
		Path log = Path.of(log(LogTests.line("a", 0)));
		Path link = this.folder.resolve("link.log");
		Path made = symbolic ? Files.createSymbolicLink(link, log) : Files.createLink(link, log);
		assertThat(run(log.toString(), "--limits", "1/m", "--svg", made.toString())).isEqualTo(2);
		assertThat(log).content().isEqualTo(LogTests.line("a", 0));
		assertThat(run(log.toString(), made.toString(), "--limits", "1/m")).isEqualTo(2);
		assertThat(this.err.toString()).contains("Invalid svg (" + link + ")", "Invalid file (" + link + ")");
	}

	@Test
	void helpNamesAllAlgorithms() {
		assertThat(run("--help")).isZero();
		assertThat(this.out.toString()).contains(Algorithms.all().stream().map(Algorithm::name).toList());
	}

	@Test
	void exitCodeTellsWhatCouldBeRead() throws IOException {
		assertThat(run(log(""), "--limits", "1/s")).isEqualTo(1);
		assertThat(run(log(""), "--spare", "99")).isEqualTo(1);
		assertThat(run(this.folder.toString(), "--limits", "1/s")).isEqualTo(1);
		assertThat(run(log("bad\n" + LogTests.line("a", 0)), "--limits", "1/s")).isZero();
		byte[] whole = LogTests.compressed(LogTests.lines("a", 0, 1, 2, 3, 4, 5, 6, 7));
		Path cut = Files.write(this.folder.resolve("cut.gz"), Arrays.copyOf(whole, whole.length - 9));
		assertThat(run(cut.toString(), "--limits", "1/s")).isEqualTo(3);
		assertThat(this.err.toString()).contains("There is no request that can be counted.",
				"lines that cannot be read: 1");
	}

}
