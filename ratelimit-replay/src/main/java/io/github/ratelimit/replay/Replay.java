package io.github.ratelimit.replay;

import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.replay.Log.Request;
import io.github.ratelimit.replay.Spare.Found;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * A program that says what limits would have denied in the past, from the access logs of
 * a server:
 *
 * <pre>
 * java -jar ratelimit-replay.jar access.log --limits 10/s,120/m --by ip
 * </pre>
 */
@Command(name = "ratelimit-replay", mixinStandardHelpOptions = true, sortOptions = false, usageHelpAutoWidth = true,
		description = "Says what limits would have denied in the past, from access logs: how many requests, of whom, when, and how long these would have waited.",
		footerHeading = "%nExamples:%n",
		footer = { "  java -jar ratelimit-replay.jar access.log --limits 10/s,120/m --by ip",
				"  java -jar ratelimit-replay.jar access.log* --paths '/api/**' --spare 99.9%% --yaml" },
		exitCodeListHeading = "%nExit codes:%n",
		exitCodeList = { "0:Everything was read. Lines that are wrong are counted, and no failure.",
				"1:A file cannot be opened or written, nothing in the files can be counted, or no limit can be found.",
				"2:An option is invalid.",
				"3:A file could not be read to its end; the report is of what could be read." })
public final class Replay implements Callable<Integer> {

	private static final int NOTHING = 1;

	private static final int INCOMPLETE = 3;

	private static final List<Limit> SEARCHED = Stream.of("1/s", "1/m", "1/h", "1/d").map(Limit::parse).toList();

	@Parameters(arity = "1..*", paramLabel = "FILE",
			description = "Access logs, also compressed by gzip; - is the standard input. In the common or combined format (the defaults of Tomcat, nginx and Apache) or JSON, an object a line. Files are merged by time.")
	private List<String> files = List.of();

	@Option(names = { "-l", "--limits" }, split = ",", paramLabel = "LIMIT",
			description = "Limits that are enforced together, such as 10/s,120/m.")
	private List<String> limits = List.of();

	@Option(names = { "-s", "--spare" }, paramLabel = "PERCENT",
			description = "Searches for the smallest limits that never deny so many clients, such as 99.9%%, for a second, minute, hour and day, or for the windows of --limits, whose quotas then do not matter. Windows longer than the log are left out.")
	private @Nullable String spare;

	@Option(names = { "-b", "--by" }, paramLabel = "IDENTIFIER",
			description = "Who is counted: ip (default), user, path, method, header:NAME, global, or several joined by a plus, such as ip+path. IPv6 addresses are counted by their /64 network, and requests without a user or header by address.")
	private String by = "ip";

	@Option(names = { "-p", "--paths" }, split = ",", paramLabel = "PATTERN",
			description = "Counts only requests of these paths, such as /api/**, 'POST /login' or /user/{id}. As in a policy, * is any text within a segment, ? one character, /** all below, {id} one segment, and {id:[0-9]+} one that the regular expression matches. Nothing else is a regular expression.")
	private List<String> paths = List.of();

	@Option(names = { "-a", "--algorithm" }, split = ",", paramLabel = "NAME",
			description = "Algorithms to compare; the first is the one of details, --spare and --yaml. Default: fixed-window, first-request-window, sliding-log, sliding-window, sliding-window-counter, leaky-bucket and token-bucket, and sliding-window for these; with --spare only that.")
	private List<String> algorithms = List.of();

	@Option(names = "--svg", paramLabel = "FILE",
			description = "Draws denials over time into this file, in a folder that exists.")
	private @Nullable Path svg;

	@Option(names = "--yaml", description = "Prints the policy, to paste below ratelimit.policies in application.yml.")
	private boolean yaml;

	@Option(names = "--field", paramLabel = "NAME=FIELD",
			description = "Where JSON has what: NAME is time, ip, user, method, path, request or header:NAME; FIELD may be a path through objects, such as ip=client.address. Usual names are found without.")
	private List<String> fields = List.of();

	@Spec
	private @Nullable CommandSpec spec;

	private Replay() {
	}

	/**
	 * Runs the program, and ends the process with its exit code.
	 * @param arguments see {@code --help}
	 */
	public static void main(String[] arguments) {
		System.exit(commandLine().execute(arguments));
	}

	static CommandLine commandLine() {
		CommandLine line = new CommandLine(new Replay());
		line.getCommandSpec().version("ratelimit-replay " + Replay.class.getPackage().getImplementationVersion());
		line.setParameterExceptionHandler((ex, arguments) -> {
			line.getErr().println(ex.getMessage());
			line.getErr().println("--help shows all options.");
			return CommandLine.ExitCode.USAGE;
		});
		return line;
	}

	@Override
	public Integer call() {
		CommandLine line = Objects.requireNonNull(this.spec).commandLine();
		try {
			return run(line.getOut(), line.getErr());
		}
		catch (IllegalArgumentException ex) {
			throw new ParameterException(line, String.valueOf(ex.getMessage()), ex);
		}
		catch (IOException ex) {
			line.getErr().println(ex.getMessage());
			return NOTHING;
		}
	}

	private int run(PrintWriter out, PrintWriter err) throws IOException {
		List<Limit> limits = this.limits.stream().map(Limit::parse).toList();
		List<Algorithm> algorithms = algorithms();
		Algorithm algorithm = algorithms.get(0);
		By by = By.parse(this.by);
		requireFiles();
		Found found = null;
		if (this.spare != null) {
			BigDecimal percent = percent(this.spare);
			// A policy refuses the limits as they are told, before the quotas are left
			// out.
			Spare search = new Spare(algorithm,
					limits.isEmpty() ? SEARCHED : new Policy(algorithm.name(), algorithm, limits).limits());
			Log log = read(by, search::add);
			found = search.find(percent, log.length());
			limits = found.together();
			if (limits.isEmpty()) {
				return nothing(log, "No limit can be found: " + String.join(", ", found.leftOut()), err);
			}
		}
		else if (limits.isEmpty()) {
			throw new IllegalArgumentException("Say --limits, such as 10/s,120/m, or --spare, such as 99.9%.");
		}
		List<Policy> policies = policies(algorithms, limits, err);
		Comparison comparison = new Comparison(policies);
		Log log = read(by, comparison::add);
		if (log.requests == 0) {
			return nothing(log, "", err);
		}
		log.problems().forEach(err::println);
		out.println(Report.traffic(log, comparison, by));
		if (found != null) {
			out.println(Report.spared(found, !this.limits.isEmpty()));
		}
		out.println(Report.limits(log, comparison));
		out.println(Report.mostDenied(comparison));
		if (this.svg != null) {
			Files.writeString(this.svg, Picture.draw(comparison));
		}
		if (this.yaml) {
			out.println(Report.yaml(limits, algorithm, by, this.paths));
		}
		return log.incomplete ? INCOMPLETE : 0;
	}

	/** Refuses before the work what would make it useless, or overwrite a log. */
	private void requireFiles() throws IOException {
		Set<Object> logs = new HashSet<>();
		for (String file : this.files) {
			Path path = Path.of(file);
			if (!logs.add(identity(path))) {
				throw new IllegalArgumentException(
						"Invalid file (%s): must be there once, because each of its lines counts.".formatted(file));
			}
			if (this.spare != null && (file.equals("-") || (Files.exists(path) && !Files.isRegularFile(path)))) {
				throw new IllegalArgumentException(
						"Invalid file (%s): must be a file for --spare, which reads it twice.".formatted(file));
			}
		}
		if (this.svg != null) {
			Path path = this.svg.toAbsolutePath();
			Path written = Files.exists(path) ? path : path.resolveSibling("");
			if (logs.contains(identity(path)) || Files.isDirectory(path) || !Files.isWritable(written)) {
				throw new IllegalArgumentException(
						"Invalid svg (%s): must be a file that can be written, in a folder that exists, and none of the logs."
							.formatted(this.svg));
			}
		}
	}

	/** Returns what all names of a file have in common, such as links to it. */
	private static Object identity(Path path) throws IOException {
		if (!Files.exists(path)) {
			return path.toAbsolutePath().normalize();
		}
		Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
		return (key != null) ? key : path.toRealPath();
	}

	/** Says why there is no report. */
	private static int nothing(Log log, String reason, PrintWriter err) {
		log.problems().forEach(err::println);
		err.println((log.requests > 0) ? reason : "There is no request that can be counted.");
		return NOTHING;
	}

	private Log read(By by, Consumer<Request> action) throws IOException {
		Progress progress = new Progress(this.files);
		Log log = new Log(by, new Paths(this.paths), new LogFormat(JsonFields.names(this.fields)));
		log.read(this.files, progress, action);
		progress.clear();
		return log;
	}

	/**
	 * Returns the policy to look at, and then those to compare it with: those that are
	 * chosen, or without a choice and a search all that support the limits.
	 */
	private List<Policy> policies(List<Algorithm> chosen, List<Limit> limits, PrintWriter err) {
		Map<String, Policy> policies = new LinkedHashMap<>();
		chosen.forEach((algorithm) -> policies.put(algorithm.name(), new Policy(algorithm.name(), algorithm, limits)));
		boolean all = this.algorithms.isEmpty() && this.spare == null;
		for (Algorithm algorithm : all ? Algorithms.all() : List.<Algorithm>of()) {
			try {
				policies.putIfAbsent(algorithm.name(), new Policy(algorithm.name(), algorithm, limits));
			}
			catch (IllegalArgumentException ex) {
				err.println("Without " + algorithm.name() + ": " + ex.getMessage());
			}
		}
		return List.copyOf(policies.values());
	}

	/** Returns the algorithms that are chosen, the one of details first. */
	private List<Algorithm> algorithms() {
		return this.algorithms.isEmpty() ? List.of(new SlidingWindow()) : this.algorithms.stream()
			.map((name) -> Algorithms.find(name.strip())
				.orElseThrow(() -> new IllegalArgumentException("Invalid algorithm (%s): must be one of %s."
					.formatted(name, String.join(", ", Algorithms.all().stream().map(Algorithm::name).toList())))))
			.toList();
	}

	private static BigDecimal percent(String text) {
		if (!text.matches("(100(\\.0+)?|\\d{1,2}(\\.\\d{1,9})?)%?")) {
			throw new IllegalArgumentException(
					"Invalid percentage (%s): must be from 0%% to 100%%, such as 99.9%%.".formatted(text));
		}
		return new BigDecimal(text.replace("%", ""));
	}

}
