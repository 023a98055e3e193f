package io.github.ratelimit.spring.policy;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.algorithm.Algorithms;
import io.github.ratelimit.spring.ConfiguredPolicies;
import io.github.ratelimit.spring.IdentifiedPolicy;
import io.github.ratelimit.spring.Mode;
import io.github.ratelimit.spring.Plan;
import io.github.ratelimit.spring.PolicyLimiter;
import io.github.ratelimit.spring.policy.RateLimitProperties.PolicyProperties;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.ApplicationListener;
import org.springframework.util.ReflectionUtils;

/**
 * Logs the policies once the application is ready, because annotations are found as beans
 * are created.
 */
final class PolicyTable implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(PolicyTable.class);

	/** Units of durations, of which the first exact one is used. */
	private static final List<ChronoUnit> UNITS = List.of(ChronoUnit.DAYS, ChronoUnit.HOURS, ChronoUnit.MINUTES,
			ChronoUnit.SECONDS, ChronoUnit.MILLIS, ChronoUnit.MICROS);

	private static final String NOTHING = "-";

	/** The columns of a policy; most are left out if all policies have the default. */
	private static final List<Column> COLUMNS = List.of(new Column("policy", (policy) -> policy.policy().name()),
			new Column("algorithm", (policy) -> text(policy.policy().algorithm())),
			new Column("limits",
					(policy) -> policy.policy().algorithm().countsCalls() ? NOTHING : text(policy.policy().limits())),
			new Column("concurrent", PolicyTable::concurrent, NOTHING),
			new Column("identifiers", (policy) -> String.join(", ", policy.identifiers())),
			new Column("missing-identifier", (policy) -> policy.enforcement().missing().toString(), "ip"),
			new Column("mode", (policy) -> text(policy.enforcement().mode())),
			new Column("on-store-failure", (policy) -> text(policy.enforcement().onStoreFailure())),
			new Column("lease", (policy) -> lease(policy.policy().lease()), NOTHING),
			new Column("count-denied", (policy) -> policy.policy().countDenied() ? "yes" : "no", "no"),
			new Column("count-when", (policy) -> Objects.toString(policy.enforcement().countWhen(), "all"), "all"),
			new Column("plans", (policy) -> plans(policy.plans()), NOTHING),
			new Column("penalty", (policy) -> text(policy.policy().penalty()), NOTHING));

	private final RateLimitProperties properties;

	private final ConfiguredPolicies policies;

	private final ObjectProvider<AnnotatedPolicies> annotated;

	private final BooleanSupplier usedByCode;

	/**
	 * Creates a table.
	 * @param properties the properties of the policies
	 * @param policies the policies
	 * @param annotated the annotations
	 * @param usedByCode whether a bean of the application has a {@link PolicyLimiter},
	 * which may use any policy
	 */
	PolicyTable(RateLimitProperties properties, ConfiguredPolicies policies,
			ObjectProvider<AnnotatedPolicies> annotated, BooleanSupplier usedByCode) {
		this.properties = properties;
		this.policies = policies;
		this.annotated = annotated;
		this.usedByCode = usedByCode;
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		if (logger.isInfoEnabled()) {
			logger.info(text());
		}
		List<String> unused = uses().entrySet()
			.stream()
			.filter((use) -> use.getValue().isEmpty())
			.map((use) -> use.getKey().policy().name())
			.sorted()
			.toList();
		if (!unused.isEmpty() && !this.usedByCode.getAsBoolean()) {
			logger.warn(
					"These policies limit nothing yet, because they have no paths, no @RateLimited names them, and no bean has a PolicyLimiter: {}",
					unused);
		}
	}

	/** Returns a line about what is not enforced, and the table. */
	String text() {
		Map<IdentifiedPolicy, Set<String>> uses = uses();
		if (uses.isEmpty()) {
			return "Rate limits: there are no policies, so nothing is limited";
		}
		List<IdentifiedPolicy> sorted = uses.keySet()
			.stream()
			.sorted(Comparator.comparing((IdentifiedPolicy policy) -> policy.policy().name())
				.thenComparing((policy) -> policy.identifiers().toString()))
			.toList();
		List<Column> columns = Stream.concat(COLUMNS.stream(), ofRequests().stream())
			.filter((column) -> column.isNeeded(sorted))
			.toList();
		List<List<String>> rows = new ArrayList<>();
		rows.add(row(columns, Column::heading, "applies to"));
		sorted.forEach((policy) -> rows
			.add(row(columns, (column) -> column.text().apply(policy), text(uses.getOrDefault(policy, Set.of())))));
		int[] widths = IntStream.rangeClosed(0, columns.size())
			.map((column) -> rows.stream().mapToInt((row) -> row.get(column).length()).max().orElse(0))
			.toArray();
		return "Rate limits: %s%n%s".formatted(summary(sorted),
				rows.stream().map((row) -> line(row, widths)).collect(Collectors.joining(System.lineSeparator())));
	}

	/** Columns about the requests that a policy applies to. */
	private List<Column> ofRequests() {
		return List.of(new Column("exclude",
				(policy) -> configured(policy, (properties) -> String.join(", ", properties.exclude())), NOTHING),
				new Column("when", (policy) -> configured(policy, PolicyProperties::when), NOTHING),
				new Column("unless", (policy) -> configured(policy, PolicyProperties::unless), NOTHING));
	}

	private String configured(IdentifiedPolicy policy, Function<PolicyProperties, @Nullable String> property) {
		PolicyProperties properties = this.properties.policies().get(policy.policy().name());
		String text = (properties != null) ? property.apply(properties) : null;
		return (text != null && !text.isEmpty()) ? text : NOTHING;
	}

	private String summary(List<IdentifiedPolicy> policies) {
		List<String> shadows = policies.stream()
			.filter((policy) -> policy.enforcement().mode() == Mode.SHADOW)
			.map((policy) -> policy.policy().name())
			.distinct()
			.toList();
		String excluded = this.properties.exclude().isEmpty() ? ""
				: ", except on the paths " + String.join(", ", this.properties.exclude());
		return "these policies are enforced while the store answers" + excluded + (shadows.isEmpty() ? ""
				: ", except in shadow mode, which only reports: " + String.join(", ", shadows));
	}

	/** Returns the paths in the order in which they are matched, and then the methods. */
	private Map<IdentifiedPolicy, Set<String>> uses() {
		Map<IdentifiedPolicy, Set<String>> uses = new LinkedHashMap<>();
		this.policies.policies().forEach((name, policy) -> {
			Set<String> paths = uses.computeIfAbsent(policy, (key) -> new LinkedHashSet<>());
			PolicyProperties configured = this.properties.policies().get(name);
			if (configured != null) {
				configured.routes()
					.forEach((route) -> route.paths().forEach((path) -> paths.add(withCost(path, route.cost()))));
				configured.paths().forEach((path) -> paths.add(withCost(path, configured.cost())));
			}
		});
		AnnotatedPolicies.byPlace(this.annotated)
			.forEach((place, policies) -> policies
				.forEach((policy) -> uses.computeIfAbsent(policy, (key) -> new LinkedHashSet<>()).add("@" + place)));
		return uses;
	}

	private static String withCost(String path, long cost) {
		return (cost == 1) ? path : "%s (cost %d)".formatted(path, cost);
	}

	private static List<String> row(List<Column> columns, Function<Column, String> cell, String last) {
		return Stream.concat(columns.stream().map(cell), Stream.of(last)).toList();
	}

	private String text(Set<String> uses) {
		return !uses.isEmpty() ? String.join(", ", uses)
				: this.usedByCode.getAsBoolean() ? "calls of PolicyLimiter" : "nothing yet";
	}

	/** Returns the algorithm with its options that differ from the defaults. */
	private static String text(Algorithm algorithm) {
		Map<String, Object> standard = Algorithms.all()
			.stream()
			.filter((other) -> other.getClass() == algorithm.getClass())
			.findFirst()
			.map(PolicyTable::options)
			.orElse(Map.of());
		String options = options(algorithm).entrySet()
			.stream()
			.filter((option) -> !option.getValue().equals(standard.get(option.getKey())))
			.map((option) -> option.getKey() + " " + text(option.getValue()))
			.collect(Collectors.joining(", "));
		return options.isEmpty() ? algorithm.name() : "%s (%s)".formatted(algorithm.name(), options);
	}

	static String lease(@Nullable Duration lease) {
		return (lease != null) ? text((Object) lease) : NOTHING;
	}

	/** Returns a penalty such as {@code 20 in 1m: 15m to 24h}. */
	static String text(@Nullable Penalty penalty) {
		return (penalty == null) ? NOTHING : "%d in %s: %s to %s%s".formatted(penalty.after(), text(penalty.within()),
				text(penalty.block()), text(penalty.upTo()), penalty.shadow() ? " (shadow)" : "");
	}

	/**
	 * Returns the options that have a value and are readable, named as in configuration.
	 */
	private static Map<String, Object> options(Algorithm algorithm) {
		Map<String, Object> options = new LinkedHashMap<>();
		RecordComponent[] components = algorithm.getClass().getRecordComponents();
		for (RecordComponent component : (components != null) ? components : new RecordComponent[0]) {
			Method accessor = component.getAccessor();
			Object value = accessor.trySetAccessible() ? ReflectionUtils.invokeMethod(accessor, algorithm) : null;
			if (value != null) {
				options.put(DataObjectPropertyName.toDashedForm(component.getName()), value);
			}
		}
		return options;
	}

	private static String text(List<Limit> limits) {
		return limits.stream().map(Limit::toString).collect(Collectors.joining(", "));
	}

	/** Returns a value as written in configuration. */
	private static String text(Object option) {
		if (option instanceof Duration duration) {
			ChronoUnit largest = UNITS.stream()
				.filter((unit) -> duration.equals(Duration.of(duration.dividedBy(unit.getDuration()), unit)))
				.findFirst()
				.orElse(ChronoUnit.NANOS);
			return DurationStyle.SIMPLE.print(duration, largest);
		}
		return (option instanceof Enum<?> value) ? text(value) : option.toString();
	}

	private static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	private static String concurrent(IdentifiedPolicy policy) {
		return policy.calls()
			.map((calls) -> calls.policy().limits().get(0))
			.map((limit) -> limit.quota() + " (lease " + text(limit.window()) + ")")
			.orElse(NOTHING);
	}

	private static String plans(Map<String, Plan> plans) {
		return plans.isEmpty() ? NOTHING : plans.entrySet()
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

	/**
	 * A column of the table.
	 *
	 * @param heading the name of the property
	 * @param text returns the value of a policy
	 * @param standard the column is left out if all policies have this value; empty to
	 * keep it always
	 */
	private record Column(String heading, Function<IdentifiedPolicy, String> text, String standard) {

		Column(String heading, Function<IdentifiedPolicy, String> text) {
			this(heading, text, "");
		}

		boolean isNeeded(List<IdentifiedPolicy> policies) {
			return policies.stream().anyMatch((policy) -> !this.text.apply(policy).equals(this.standard));
		}

	}

}
