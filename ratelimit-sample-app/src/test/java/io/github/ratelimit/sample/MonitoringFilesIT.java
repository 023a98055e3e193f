package io.github.ratelimit.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the dashboard and the alert rules name is what the application tells Prometheus.
 */
class MonitoringFilesIT {

	private static final Pattern SERIES = Pattern.compile("(?m)^([a-z_]+)(?:\\{(.*)})? \\S+$");

	private static final Pattern SELECTOR = Pattern.compile("\\b((?:ratelimit|http)_[a-z_]+)(?:\\{([^}]*)})?");

	private static final Pattern LABEL = Pattern.compile("([a-z_]+)(?:=~|!~|!=|=)\"([^\"]*)\"");

	private static final Pattern GROUPED = Pattern.compile("\\b(?:by|on|group_left) \\(([^)]*)\\)");

	/** Variables of legends and of annotations. */
	private static final Pattern TOLD = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?([a-z_]+)");

	private static final Pattern PAGE = Pattern.compile("docs/([a-z-]+\\.md)#([a-z-]+)");

	/** Those that Prometheus adds. */
	private static final Set<String> OF_TARGETS = Set.of("namespace", "job", "instance");

	/** The values of each label of each metric. */
	private static final Map<String, Map<String, Set<String>>> metrics = new HashMap<>();

	@BeforeAll
	static void scrape() throws Exception {
		try (Playground playground = new Playground("--ratelimit.policies.trial.limits=1/h",
				"--ratelimit.policies.trial.mode=shadow", "--ratelimit.policies.trial.paths=/report",
				"--management.metrics.distribution.slo.ratelimit.store=10ms")) {
			playground.status("GET api/search");
			SERIES.matcher(playground.body("GET actuator/prometheus")).results().forEach((series) -> {
				Map<String, Set<String>> labels = metrics.computeIfAbsent(series.group(1), (name) -> new HashMap<>());
				labels(series.group(2))
					.forEach((label) -> labels.computeIfAbsent(label.group(1), (name) -> new HashSet<>())
						.add(label.group(2)));
			});
		}
	}

	static List<MonitoringQuery> queries() throws IOException {
		List<MonitoringQuery> queries = new ArrayList<>(MonitoringQuery.ofDashboard());
		queries.addAll(MonitoringQuery.ofVariables());
		queries.addAll(MonitoringQuery.ofRules());
		assertThat(queries).hasSizeGreaterThan(30);
		return queries;
	}

	@ParameterizedTest
	@MethodSource("queries")
	void queryNamesMetricsLabelsAndValuesThatExist(MonitoringQuery query) {
		Set<String> known = new HashSet<>(OF_TARGETS);
		SELECTOR.matcher(query.expression()).results().forEach((selector) -> {
			assertThat(metrics).containsKey(selector.group(1));
			Map<String, Set<String>> labels = metrics.get(selector.group(1));
			known.addAll(labels.keySet());
			labels(selector.group(2)).filter((label) -> !OF_TARGETS.contains(label.group(1))).forEach((label) -> {
				assertThat(labels).as(selector.group()).containsKey(label.group(1));
				assertThat(labels.get(label.group(1))).as(selector.group()).containsAll(values(label.group(2)));
			});
		});
		Set<String> grouped = GROUPED.matcher(query.expression())
			.results()
			.flatMap((labels) -> Stream.of(labels.group(1).split(", ")))
			.filter((label) -> !label.isEmpty())
			.collect(Collectors.toSet());
		assertThat(known).as("labels of the metrics").containsAll(grouped);
		assertThat(grouped).as("labels of the results").containsAll(told(query.text()));
	}

	@Test
	void runbooksLeadToHeadings() throws IOException {
		List<String> runbooks = MonitoringQuery.ofRules()
			.stream()
			.map(MonitoringQuery::text)
			.filter((text) -> !text.isEmpty())
			.toList();
		assertThat(runbooks).hasSizeGreaterThan(8).allSatisfy((runbook) -> {
			MatchResult page = PAGE.matcher(runbook).results().findFirst().orElseThrow();
			assertThat(Files.readAllLines(Path.of("..", "docs", page.group(1))))
				.filteredOn((line) -> line.startsWith("#"))
				.map((line) -> line.replaceAll("[^\\p{L}\\p{N} -]", "")
					.strip()
					.toLowerCase(Locale.ROOT)
					.replace(' ', '-'))
				.contains(page.group(2));
		});
	}

	private static Stream<MatchResult> labels(String text) {
		return (text != null) ? LABEL.matcher(text).results() : Stream.empty();
	}

	/** Those of a regular expression, without the dashboard's variables. */
	private static List<String> values(String text) {
		return Stream.of(text.split("\\|")).filter((value) -> !value.startsWith("$")).toList();
	}

	private static Set<String> told(String text) {
		return TOLD.matcher(text).results().map((label) -> label.group(1)).collect(Collectors.toSet());
	}

}
