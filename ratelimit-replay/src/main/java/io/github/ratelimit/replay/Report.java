package io.github.ratelimit.replay;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.replay.Comparison.Client;
import io.github.ratelimit.replay.Comparison.Result;
import io.github.ratelimit.replay.Spare.Found;

/**
 * What the program prints.
 */
final class Report {

	private static final Duration COARSE = Duration.ofSeconds(10);

	private static final int LISTED = 10;

	private Report() {
	}

	/** Returns what was read. */
	static String traffic(Log log, Comparison comparison, By by) {
		return "%s requests of %s clients (%s), from %s to %s%n".formatted(Table.number(log.requests),
				Table.number(comparison.clients.size()), by, Log.time(log.first), Log.time(log.last));
	}

	/** Returns what each limit would have denied, by algorithm. */
	static String limits(Log log, Comparison comparison) {
		long clients = comparison.clients.size();
		Table table = new Table(2, "algorithm", "limit", "requests denied", "", "clients denied", "", "wait: half",
				"99 %", "longest");
		for (int i = 0; i < comparison.results.size(); i++) {
			Result result = comparison.results.get(i);
			List<Limit> limits = result.policy.limits();
			for (int limit = 0; limit < limits.size() && limits.size() > 1; limit++) {
				long requests = result.byLimit[limit];
				long denied = comparison.clientsDenied(i, 1L << limit);
				table.add((limit == 0) ? result.policy.name() : "", limits.get(limit).toString(),
						Table.number(requests), Table.percent(requests, log.requests), Table.number(denied),
						Table.percent(denied, clients), "", "", "");
			}
			long denied = comparison.clientsDenied(i, -1);
			table.add((limits.size() > 1) ? "" : result.policy.name(),
					(limits.size() > 1) ? "together" : limits.get(0).toString(), Table.number(result.denied),
					Table.percent(result.denied, log.requests), Table.number(denied), Table.percent(denied, clients),
					wait(result, 50), wait(result, 99), wait(result, 100));
		}
		Duration shortest = comparison.results.get(0).policy.limits().get(0).window();
		return table + ((log.wholeSeconds && shortest.compareTo(COARSE) < 0)
				? "The log has whole seconds only: windows of less than 10s are inexact.%n".formatted() : "");
	}

	private static String wait(Result result, double percentile) {
		long millis = result.waits.lowestEquivalentValue(result.waits.getValueAtPercentile(percentile));
		return (result.waits.getTotalCount() > 0) ? Table.time(Duration.ofMillis(millis)) : "-";
	}

	/** Returns who was denied most by the first policy, and when. */
	static String mostDenied(Comparison comparison) {
		Result result = comparison.results.get(0);
		Table table = new Table(1, "client", "requests", "denied", "first denied", "last denied", "longest wait");
		comparison.clients.values()
			.stream()
			.filter((client) -> client.denied > 0)
			.sorted(Comparator.comparingLong((Client client) -> -client.denied)
				.thenComparing((client) -> client.identifier.value()))
			.limit(LISTED)
			.forEach((client) -> table.add(Table.printable(client.identifier.value()), Table.number(client.requests),
					Table.number(client.denied), client.firstDenied.toString(), client.lastDenied.toString(),
					(client.wait == 0) ? "never" : Table.time(Duration.ofMillis(client.wait / 1000))));
		Map.Entry<Long, long[]> worst = comparison.timeline.periods.entrySet()
			.stream()
			.max(Comparator.comparingLong((period) -> period.getValue()[1]))
			.orElseThrow();
		return (result.denied == 0) ? "%s denies nobody.%n".formatted(result.policy.name())
				: "Denied most by %s:%n%sMost in %s: %s, from %s on%n".formatted(result.policy.name(), table,
						Table.time(Duration.ofSeconds(comparison.timeline.length)), Table.number(worst.getValue()[1]),
						Instant.ofEpochSecond(worst.getKey()));
	}

	/**
	 * Returns the smallest limits that spare as many clients as demanded.
	 * @param chosen whether the windows were chosen, by limits with quotas
	 */
	static String spared(Found found, boolean chosen) {
		String leftOut = found.leftOut().isEmpty() ? ""
				: "  left out:      %s%n".formatted(String.join(", ", found.leftOut()));
		return "Smallest limits by which %s never denies %s %% of %s clients:%n  each alone:    %s%n  all together:  %s (clients denied: %s)%n%s%s"
			.formatted(found.algorithm().name(), found.percent().toPlainString(), Table.number(found.clients()),
					text(found.alone()), text(found.together()), Table.number(found.denied()), leftOut,
					chosen ? "Only the windows of --limits were used, not their quotas.%n".formatted() : "");
	}

	static String text(List<Limit> limits) {
		return String.join(",", limits.stream().map(Limit::toString).toList());
	}

	/** Returns a policy that belongs below {@code ratelimit.policies}. */
	static String yaml(List<Limit> limits, Algorithm algorithm, By by, List<String> paths) {
		return """
				    replayed:                                     # below ratelimit.policies
				      paths: ["%s"]
				      limits: [%s]
				      identifiers: "%s"
				      algorithm: %s
				      mode: shadow                                # only reports; remove it to deny
				""".formatted(paths.isEmpty() ? "/**" : String.join("\", \"", paths).replace("\\", "\\\\"),
				text(limits).replace(",", ", "), by, algorithm.name());
	}

}
