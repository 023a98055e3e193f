package io.github.ratelimit.spring.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.Plan;
import io.github.ratelimit.spring.aop.RateLimitedAdvisor;
import io.github.ratelimit.spring.autoconfigure.RateLimitProperties.PolicyProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.context.ApplicationListener;
import org.springframework.util.ReflectionUtils;

/**
 * Logs which policies there are, once the application is ready, because those of
 * annotations are met as beans are created.
 */
final class PolicyTable implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(PolicyTable.class);

	private static final List<String> HEADINGS = List.of("policy", "algorithm", "limits", "identifiers", "mode",
			"on-store-failure", "count-denied", "plans", "applies to");

	private static final String NONE = "-";

	private final RateLimitProperties properties;

	private final ConfiguredPolicies policies;

	private final ObjectProvider<RateLimitedAdvisor> advisor;

	PolicyTable(RateLimitProperties properties, ConfiguredPolicies policies,
			ObjectProvider<RateLimitedAdvisor> advisor) {
		this.properties = properties;
		this.policies = policies;
		this.advisor = advisor;
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		if (logger.isInfoEnabled()) {
			logger.info(text());
		}
	}

	/** A line that says what is not enforced, and the table. */
	String text() {
		Map<IdentifiedPolicy, Set<String>> uses = uses();
		if (uses.isEmpty()) {
			return "Rate limits: there are no policies, so that nothing is limited";
		}
		List<IdentifiedPolicy> sorted = uses.keySet()
			.stream()
			.sorted(Comparator.comparing((IdentifiedPolicy policy) -> policy.policy().name())
				.thenComparing((policy) -> policy.identifiers().toString()))
			.toList();
		List<List<String>> rows = new ArrayList<>();
		rows.add(HEADINGS);
		sorted.forEach((policy) -> rows.add(row(policy, uses.getOrDefault(policy, Set.of()))));
		int[] widths = IntStream.range(0, HEADINGS.size())
			.map((column) -> rows.stream().mapToInt((row) -> row.get(column).length()).max().orElse(0))
			.toArray();
		return "Rate limits: %s%n%s".formatted(summary(sorted),
				rows.stream().map((row) -> line(row, widths)).collect(Collectors.joining(System.lineSeparator())));
	}

	private static String summary(List<IdentifiedPolicy> policies) {
		List<String> shadows = policies.stream()
			.filter((policy) -> policy.enforcement().mode() == Mode.SHADOW)
			.map((policy) -> policy.policy().name())
			.distinct()
			.toList();
		return shadows.isEmpty() ? "these policies are enforced"
				: "these policies are enforced, except in shadow mode, which only reports: "
						+ String.join(", ", shadows);
	}

	private Map<IdentifiedPolicy, Set<String>> uses() {
		Map<IdentifiedPolicy, Set<String>> uses = new LinkedHashMap<>();
		this.policies.policies().forEach((name, policy) -> {
			Set<String> paths = uses.computeIfAbsent(policy, (key) -> new TreeSet<>());
			PolicyProperties configured = this.properties.policies().get(name);
			if (configured != null) {
				configured.paths().forEach((path) -> paths.add(withCost(path, configured.cost())));
				configured.routes()
					.forEach((route) -> route.paths().forEach((path) -> paths.add(withCost(path, route.cost()))));
			}
		});
		this.advisor.ifAvailable((found) -> found.annotatedPolicies()
			.forEach((annotated) -> uses.computeIfAbsent(annotated.policy(), (key) -> new TreeSet<>())
				.add("@" + annotated.place())));
		return uses;
	}

	private static String withCost(String path, long cost) {
		return (cost == 1) ? path : "%s (cost %d)".formatted(path, cost);
	}

	private static List<String> row(IdentifiedPolicy policy, Set<String> uses) {
		return List.of(policy.policy().name(), text(policy.policy().algorithm()), text(policy.policy().limits()),
				String.join(", ", policy.identifiers()), text(policy.enforcement().mode()),
				text(policy.enforcement().onStoreFailure()), policy.policy().countDenied() ? "yes" : "no",
				plans(policy.plans()), uses.isEmpty() ? "nothing yet" : String.join(", ", uses));
	}

	/** The algorithm with those of its options that have a value. */
	private static String text(Algorithm algorithm) {
		RecordComponent[] components = algorithm.getClass().getRecordComponents();
		String options = Stream.of((components != null) ? components : new RecordComponent[0]).map((component) -> {
			Object value = ReflectionUtils.invokeMethod(component.getAccessor(), algorithm);
			return (value != null) ? DataObjectPropertyName.toDashedForm(component.getName()) + " " + value : "";
		}).filter((option) -> !option.isEmpty()).collect(Collectors.joining(", "));
		return options.isEmpty() ? algorithm.name() : "%s (%s)".formatted(algorithm.name(), options);
	}

	private static String text(List<Limit> limits) {
		return limits.stream().map(Limit::toString).collect(Collectors.joining(", "));
	}

	private static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	private static String plans(Map<String, Plan> plans) {
		return plans.isEmpty() ? NONE : plans.entrySet()
			.stream()
			.map((plan) -> plan.getKey() + ": "
					+ ((plan.getValue().policy() != null) ? text(plan.getValue().policy().limits()) : "unlimited"))
			.collect(Collectors.joining("; "));
	}

	private static String line(List<String> row, int[] widths) {
		return IntStream.range(0, row.size())
			.mapToObj((column) -> String.format("%-" + Math.max(1, widths[column]) + "s", row.get(column)))
			.collect(Collectors.joining("  ", "  ", ""))
			.stripTrailing();
	}

}
