package io.github.ratelimit.sample;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.DoubleStream;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The Prometheus of this machine, which scrapes one application.
 */
final class Prometheus implements AutoCloseable {

	private static final String CONFIGURATION = """
			global: { scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 250ms }
			rule_files: [rules.yml]
			scrape_configs:
			  - job_name: sample
			    metrics_path: /actuator/prometheus
			    static_configs: [targets: ["127.0.0.1:%d"]]
			""";

	private final HttpClient http = HttpClient.newHttpClient();

	private final Process server;

	private final int port;

	/** Starts it in an empty folder. */
	Prometheus(Path folder, int application, String rules) throws IOException {
		Files.writeString(folder.resolve("rules.yml"), rules);
		Path configuration = Files.writeString(folder.resolve("prometheus.yml"), CONFIGURATION.formatted(application));
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			this.port = socket.getLocalPort();
		}
		this.server = new ProcessBuilder(Browser.program("prometheus").getPath(), "--config.file=" + configuration,
				"--storage.tsdb.path=" + folder.resolve("data"), "--web.listen-address=127.0.0.1:" + this.port,
				"--log.level=warn")
			.inheritIO()
			.start();
		await().ignoreExceptions().until(() -> get("status/buildinfo").path("status").stringValue().equals("success"));
	}

	/** Runs {@code promtool}, which must find no fault. */
	static void tool(String... arguments) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>(List.of(Browser.program("promtool").getPath()));
		command.addAll(List.of(arguments));
		Process tool = new ProcessBuilder(command).redirectErrorStream(true).start();
		String output = new String(tool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(tool.waitFor()).as(output).isZero();
	}

	/** Returns the present values of a query, without those that are no number. */
	DoubleStream values(String query) {
		JsonNode answer = get("query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8));
		assertThat(answer.path("status").stringValue()).as(answer::toString).isEqualTo("success");
		return answer.at("/data/result")
			.valueStream()
			.mapToDouble((series) -> Double.parseDouble(series.at("/value/1").stringValue()))
			.filter((value) -> !Double.isNaN(value));
	}

	/** Returns the alerts that fire, each with its policy or kind. */
	Set<String> firing() {
		Set<String> firing = new TreeSet<>();
		get("alerts").at("/data/alerts")
			.valueStream()
			.filter((alert) -> alert.path("state").stringValue().equals("firing"))
			.map((alert) -> alert.path("labels"))
			.forEach((labels) -> firing.add((labels.path("alertname").stringValue() + " "
					+ labels.path("policy").asString("") + labels.path("kind").asString(""))
				.strip()));
		return firing;
	}

	private JsonNode get(String path) {
		HttpRequest request = HttpRequest
			.newBuilder(URI.create("http://127.0.0.1:%d/api/v1/%s".formatted(this.port, path)))
			.build();
		return JsonMapper.shared().readTree(this.http.sendAsync(request, BodyHandlers.ofString()).join().body());
	}

	@Override
	public void close() {
		this.server.destroy();
		this.server.onExit().join();
	}

}
