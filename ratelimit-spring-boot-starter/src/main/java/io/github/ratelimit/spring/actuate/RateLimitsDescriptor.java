package io.github.ratelimit.spring.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.ratelimit.Block;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.Penalty;
import io.github.ratelimit.Policy;
import io.github.ratelimit.WindowCount;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.github.ratelimit.spring.policy.Plan;
import org.jspecify.annotations.Nullable;

/**
 * The policies as the endpoint shows them; with what else it shows.
 *
 * @param policies the policies by name
 * @param methods the methods and types with annotations
 */
record RateLimitsDescriptor(Map<String, PolicyDescriptor> policies, List<MethodDescriptor> methods) {

	static RateLimitsDescriptor of(KnownPolicies known) {
		Map<String, PolicyDescriptor> policies = new LinkedHashMap<>();
		known.all().forEach((name, policy) -> policies.put(name, PolicyDescriptor.of(policy)));
		List<MethodDescriptor> methods = new ArrayList<>();
		known.byPlace()
			.forEach((place, found) -> found.forEach((policy) -> methods
				.add(new MethodDescriptor(place, policy.policy().name(), policy.identifiers()))));
		methods.sort(Comparator.comparing(MethodDescriptor::policy).thenComparing(MethodDescriptor::method));
		return new RateLimitsDescriptor(policies, methods);
	}

	/** A policy. It has no limits if it limits only concurrent calls. */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record PolicyDescriptor(boolean enabled, String algorithm, List<String> limits, @Nullable Long concurrent,
			List<String> identifiers, boolean countDenied, String mode, String onStoreFailure, @Nullable Duration lease,
			@Nullable PenaltyDescriptor penalty,
			@JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, PlanDescriptor> plans) {

		static PolicyDescriptor of(IdentifiedPolicy identified) {
			Policy policy = identified.policy();
			Map<String, PlanDescriptor> plans = new TreeMap<>();
			identified.plans().forEach((name, plan) -> plans.put(name, PlanDescriptor.of(plan)));
			Long concurrent = identified.calls().map((calls) -> calls.policy().limits().get(0).quota()).orElse(null);
			return new PolicyDescriptor(identified.enforcement().enabled(), policy.algorithm().name(),
					policy.algorithm().countsCalls() ? List.of() : limits(policy), concurrent, identified.identifiers(),
					policy.countDenied(), text(identified.enforcement().mode()),
					text(identified.enforcement().onStoreFailure()), policy.lease(),
					PenaltyDescriptor.of(policy.penalty()), plans);
		}

		static List<String> limits(Policy policy) {
			return policy.limits().stream().map(Limit::toString).toList();
		}

		static String text(Enum<?> value) {
			return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

	}

	/** What happens to identifiers that a policy denies often. */
	record PenaltyDescriptor(int after, Duration within, Duration block, Duration upTo, String mode) {

		static @Nullable PenaltyDescriptor of(@Nullable Penalty penalty) {
			return (penalty != null) ? new PenaltyDescriptor(penalty.after(), penalty.within(), penalty.block(),
					penalty.upTo(), PolicyDescriptor.text(penalty.shadow() ? Mode.SHADOW : Mode.ENFORCE)) : null;
		}

	}

	/** The limits for the users of a plan. */
	record PlanDescriptor(List<String> limits, boolean unlimited) {

		static PlanDescriptor of(Plan plan) {
			Policy policy = plan.policy();
			return new PlanDescriptor((policy != null) ? PolicyDescriptor.limits(policy) : List.of(), policy == null);
		}

	}

	/** A method or type with an annotation. */
	record MethodDescriptor(String method, String policy, List<String> identifiers) {

	}

	/**
	 * The counts of one identifier in one policy.
	 *
	 * @param policy name of the policy
	 * @param plan the plan of the users that are counted; {@code null} for users without
	 * a plan
	 * @param identifier the identifier
	 * @param allowed whether a request of cost 1 would be allowed now
	 * @param blockedFor how long the identifier is still blocked; {@code null} if it is
	 * not
	 * @param limits the state of each limit
	 * @param requests the newest requests of a log; {@code null} if there is none
	 * @param windows the counts of past windows; {@code null} if none are kept
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record CountsDescriptor(String policy, @Nullable String plan, String identifier, boolean allowed,
			@Nullable Duration blockedFor, List<LimitDescriptor> limits, @Nullable List<LogEntry> requests,
			@Nullable List<WindowDescriptor> windows) {

		static CountsDescriptor of(String policy, @Nullable String plan, String identifier, Decision decision,
				@Nullable List<LogEntry> requests, @Nullable List<WindowCount> windows) {
			return new CountsDescriptor(policy, plan, identifier, decision.allowed(), decision.blockedFor(),
					decision.statuses().stream().map(LimitDescriptor::of).toList(), requests,
					(windows != null) ? windows.stream().map(WindowDescriptor::of).toList() : null);
		}

	}

	/** The state of one limit. A {@code null} retryAfter means never. */
	record LimitDescriptor(String limit, long remaining, Duration resetAfter, @Nullable Duration retryAfter) {

		static LimitDescriptor of(LimitStatus status) {
			return new LimitDescriptor(status.limitText(), status.remaining(), status.resetAfter(),
					status.retryAfter());
		}

	}

	/** The count of one window. */
	record WindowDescriptor(String limit, Instant end, long count) {

		static WindowDescriptor of(WindowCount window) {
			return new WindowDescriptor(window.limit().toString(), window.end(), window.count());
		}

	}

	/** A block; in all policies if the policy is {@code null}. */
	record BlockDescriptor(String identifier, @Nullable String policy, Instant until, String reason) {

		static BlockDescriptor of(Block block) {
			return new BlockDescriptor(block.identifier().toString(), block.policy(), block.until(), block.reason());
		}

	}

}
