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
 * The counts of one identifier in one policy.
 *
 * @param policy name of the policy
 * @param plan the plan of the users that are counted; {@code null} for users without a
 * plan
 * @param identifier the identifier
 * @param allowed whether a request of cost 1 would be allowed now
 * @param blockedFor how long the identifier is still blocked; {@code null} if it is not
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
