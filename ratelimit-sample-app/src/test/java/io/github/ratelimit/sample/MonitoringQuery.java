package io.github.ratelimit.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A query of the dashboard or of the alert rules.
 *
 * @param expression in PromQL
 * @param text the legend of its results, or all that an alert says of them
 */
record MonitoringQuery(String expression, String text) {

	static final Path FOLDER = Path.of("..", "docs", "monitoring");

	static final Path ALERTS = FOLDER.resolve("alerts.yml");

	static final Path DASHBOARD = FOLDER.resolve("grafana-dashboard.json");

	/** Those of the panels. */
	static List<MonitoringQuery> ofDashboard() throws IOException {
		return dashboard().path("panels")
			.valueStream()
			.flatMap((panel) -> panel.path("targets").valueStream())
			.map((target) -> new MonitoringQuery(target.path("expr").stringValue(),
					target.path("legendFormat").stringValue()))
			.toList();
	}

	/** Those that find the values of the dashboard's variables. */
	static List<MonitoringQuery> ofVariables() throws IOException {
		return dashboard().at("/templating/list")
			.valueStream()
			.map((variable) -> new MonitoringQuery(variable.path("query").stringValue(), ""))
			.toList();
	}

	private static JsonNode dashboard() throws IOException {
		return JsonMapper.shared().readTree(Files.readString(DASHBOARD));
	}

	@SuppressWarnings("unchecked")
	static List<MonitoringQuery> ofRules() throws IOException {
		Map<String, List<Map<String, Object>>> file = new Yaml().load(Files.readString(ALERTS));
		return file.get("groups")
			.stream()
			.flatMap((group) -> ((List<Map<String, Object>>) group.get("rules")).stream())
			.map((rule) -> new MonitoringQuery((String) rule.get("expr"),
					String.valueOf(rule.getOrDefault("annotations", ""))))
			.toList();
	}

}
