package io.github.ratelimit.spring.config;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import io.github.ratelimit.spring.decide.IdentifierNames;
import io.github.ratelimit.spring.decide.NearestNames;
import io.github.ratelimit.spring.policy.ConfiguredPolicies;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;

/**
 * Logs the policies once the application is ready, because annotations are found as beans
 * are created.
 */
final class PolicyTable implements ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(PolicyTable.class);

	/** The options that the last column shows. */
	private static final Set<String> PLACES = Set.of("paths", "routes", "cost");

	private static final String LAST = "applies to";

	private final RateLimitProperties properties;

	private final ConfiguredPolicies policies;

	private final ObjectProvider<AnnotatedPolicies> annotated;

	private final Supplier<List<String>> code;

	/** The code is what beans have that may use any policy, such as a PolicyLimiter. */
	PolicyTable(RateLimitProperties properties, ConfiguredPolicies policies,
			ObjectProvider<AnnotatedPolicies> annotated, Supplier<List<String>> code) {
		this.properties = properties;
		this.policies = policies;
		this.annotated = annotated;
		this.code = code;
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		Map<IdentifiedPolicy, Set<String>> uses = uses();
		List<String> code = this.code.get();
		logger.info(uses.isEmpty() ? "Rate limits: there are no policies, so nothing is limited" : table(uses, code));
		warnOfUnused(uses, !code.isEmpty(), event.getApplicationContext().getEnvironment());
		this.policies.policies().values().forEach(PolicyTable::warnOfReset);
	}

	/** Tells of counts that others may share with whoever succeeds. */
	static void warnOfReset(IdentifiedPolicy policy) {
		policy.enforcement()
			.reset()
			.stream()
			.filter((identifier) -> IdentifierNames.parts(identifier)
				.stream()
				.allMatch((part) -> part.equals(IdentifierNames.ADDRESS) || !IdentifierNames.tellsClientsApart(part)))
			.forEach((identifier) -> logger.warn(
					"The reset of the policy '{}' lets whoever has an account clear the count of '{}' between two guesses. Name whose success it is as well, such as {}+account, with a bean that knows the account before the login.",
					policy.policy().name(), identifier, identifier));
	}

	/**
	 * Tells of policies that nothing uses, unless code may, and their names are right.
	 */
	private static void warnOfUnused(Map<IdentifiedPolicy, Set<String>> uses, boolean byCode, Environment environment) {
		Set<String> used = new TreeSet<>();
		Set<String> unused = new TreeSet<>();
		uses.forEach((policy, places) -> {
			if (!places.isEmpty() || policy.enforcement().enabled()) {
				(places.isEmpty() ? unused : used).add(policy.policy().name());
			}
		});
		unused.removeAll(used);
		unused.forEach((name) -> {
			List<String> meant = NearestNames.find(name, used);
			StreamSupport.stream(ConfigurationPropertySources.get(environment).spliterator(), false)
				.filter((source) -> !meant.isEmpty() && EnvironmentSettings.isOfEnvironment(source))
				.flatMap((source) -> EnvironmentSettings
					.read(ConfigurationPropertyName.adapt(MapKeys.element("ratelimit.policies", name), '.'), source)
					.stream())
				.map(ConfigurationProperty::getOrigin)
				.filter(Objects::nonNull)
				.findFirst()
				.ifPresent((origin) -> logger.warn("The policy '{}' limits nothing yet, which is set by {}. {}", name,
						origin, NearestNames.question(meant)));
		});
		if (!unused.isEmpty() && !byCode) {
			logger.warn(
					"These policies limit nothing yet, because they have no paths, no @RateLimited names them, and no bean has a PolicyLimiter or OutgoingRateLimits: {}",
					unused);
		}
	}

	/** Returns a line about what is not enforced, and the table. */
	private String table(Map<IdentifiedPolicy, Set<String>> uses, List<String> code) {
		List<IdentifiedPolicy> sorted = uses.keySet()
			.stream()
			.sorted(Comparator.comparing((IdentifiedPolicy policy) -> policy.policy().name())
				.thenComparing((policy) -> policy.identifiers().toString()))
			.toList();
		String others = code.isEmpty() ? "nothing yet" : "calls of " + String.join(" or ", code);
		List<Map<String, String>> rows = sorted.stream()
			.map((policy) -> row(policy, uses.getOrDefault(policy, Set.of()), others))
			.toList();
		Set<String> headings = new LinkedHashSet<>();
		rows.forEach((row) -> headings.addAll(row.keySet()));
		headings.remove(LAST);
		headings.add(LAST);
		Map<String, String> heading = new LinkedHashMap<>();
		StringBuilder format = new StringBuilder();
		headings.forEach((name) -> {
			heading.put(name, name);
			int width = rows.stream().mapToInt((row) -> row.getOrDefault(name, "-").length()).max().orElse(0);
			format.append("  %-").append(Math.max(width, name.length())).append('s');
		});
		return Stream.concat(Stream.of(heading), rows.stream())
			.map((row) -> headings.stream().map((name) -> row.getOrDefault(name, "-")).toArray())
			.map((cells) -> format.toString().formatted(cells).stripTrailing())
			.collect(Collectors.joining(System.lineSeparator(), "Rate limits: %s%n".formatted(summary(sorted)), ""));
	}

	/** Returns what a policy always has, and other options as they are set. */
	private Map<String, String> row(IdentifiedPolicy policy, Set<String> uses, String others) {
		Map<String, String> row = new LinkedHashMap<>();
		row.put("policy", policy.policy().name());
		row.put("algorithm", policy.policy().algorithm().name());
		row.put("limits", policy.policy().algorithm().countsCalls() ? "-" : SetOptions.text(policy.policy().limits()));
		row.put("identifiers", SetOptions.text(policy.identifiers()));
		row.put("mode", SetOptions.text(policy.enforcement().mode()));
		row.put("on-store-failure", SetOptions.text(policy.enforcement().onStoreFailure()));
		Map<String, Object> ofAlgorithm = SetOptions.of(policy.policy().algorithm());
		PolicySettings settings = this.properties.policies().get(policy.policy().name());
		if (settings != null) {
			SetOptions.of(settings).forEach((option, value) -> {
				if (!PolicySettings.option(option).algorithm().isEmpty()) {
					ofAlgorithm.replace(option, value);
				}
				else if (!PLACES.contains(option)) {
					row.putIfAbsent(option, SetOptions.text(value));
				}
			});
		}
		if (!ofAlgorithm.isEmpty()) {
			row.merge("algorithm", SetOptions.text(ofAlgorithm), (name, options) -> name + ", " + options);
		}
		row.put(LAST, uses.isEmpty() ? others : SetOptions.text(uses));
		return row;
	}

	private String summary(List<IdentifiedPolicy> policies) {
		String excluded = this.properties.exclude().isEmpty() ? ""
				: ", except on the paths " + SetOptions.text(this.properties.exclude());
		return "these policies are enforced while the store answers" + excluded
				+ except("in shadow mode, which only reports: ", policies,
						(enforcement) -> enforcement.enabled() && enforcement.mode() == Mode.SHADOW)
				+ except("with enabled: false, which limits nothing: ", policies,
						(enforcement) -> !enforcement.enabled());
	}

	private static String except(String reason, List<IdentifiedPolicy> policies, Predicate<Enforcement> excepted) {
		List<String> names = policies.stream()
			.filter((policy) -> excepted.test(policy.enforcement()))
			.map((policy) -> policy.policy().name())
			.distinct()
			.toList();
		return names.isEmpty() ? "" : ", except " + reason + SetOptions.text(names);
	}

	/** Returns the paths in the order in which they are matched, and then the methods. */
	private Map<IdentifiedPolicy, Set<String>> uses() {
		Map<IdentifiedPolicy, Set<String>> uses = new LinkedHashMap<>();
		this.policies.policies().forEach((name, policy) -> {
			Set<String> paths = uses.computeIfAbsent(policy, (key) -> new LinkedHashSet<>());
			PolicySettings settings = this.properties.policies().get(name);
			if (settings != null) {
				settings.routes()
					.forEach((route) -> route.paths().forEach((path) -> paths.add(withCost(path, route.cost()))));
				settings.paths().forEach((path) -> paths.add(withCost(path, settings.costOfPaths())));
			}
		});
		AnnotatedPolicies.byPlace(this.annotated)
			.forEach((place, policies) -> policies
				.forEach((policy) -> uses.computeIfAbsent(policy, (key) -> new LinkedHashSet<>()).add("@" + place)));
		return uses;
	}

	private static String withCost(String path, long cost) {
		return (cost == 1) ? path : "%s (cost %s)".formatted(path, cost);
	}

}
