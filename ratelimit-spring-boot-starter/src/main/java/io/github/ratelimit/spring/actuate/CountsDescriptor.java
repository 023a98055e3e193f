package io.github.ratelimit.spring.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.ratelimit.Block;
import io.github.ratelimit.Decision;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.LogEntry;
import io.github.ratelimit.WindowCount;
import org.jspecify.annotations.Nullable;

/**
 * What the endpoint says of one identifier in one policy.
 *
 * @param policy name of the policy
 * @param plan the plan for whose users this counts; {@code null} for those without
 * @param identifier the identifier
 * @param allowed whether a request of cost 1 would be allowed now
 * @param blockedFor how long the identifier is still blocked; {@code null} if it is not
 * @param limits how each limit stands
 * @param requests the newest requests of a log; {@code null} if there is none
 * @param windows the counts of windows that are kept; {@code null} if none are
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

	/**
	 * How one limit stands. {@code null} as the time to retry after says never.
	 */
	record LimitDescriptor(String limit, long remaining, Duration resetAfter, @Nullable Duration retryAfter) {

		static LimitDescriptor of(LimitStatus status) {
			return new LimitDescriptor(status.limit().toString(), status.remaining(), status.resetAfter(),
					status.retryAfter());
		}

	}

	/**
	 * What was used in one window.
	 */
	record WindowDescriptor(String limit, Instant end, long count) {

		static WindowDescriptor of(WindowCount window) {
			return new WindowDescriptor(window.limit().toString(), window.end(), window.count());
		}

	}

	/**
	 * A block, in all policies if it names none.
	 */
	record BlockDescriptor(String identifier, @Nullable String policy, Instant until, String reason) {

		static BlockDescriptor of(Block block) {
			return new BlockDescriptor(block.identifier().toString(), block.policy(), block.until(), block.reason());
		}

	}

}
