package io.github.ratelimit.spring.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.algorithm.SlidingWindowCounter.Rounding;
import io.github.ratelimit.algorithm.TokenBucket;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.spring.policy.Mode;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesSource;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * A set of limits that are enforced together. Unset properties default to
 * ratelimit.defaults.
 * <p>
 * Files, environment variables and code fill the same settings. An option that is
 * {@code null} or empty is not set.
 *
 * @param enabled whether the policy limits anything; if false, everything is allowed and
 * nothing is counted or reported, but all other options must still be valid; default:
 * true
 * @param limits limits, such as 10/s, 100/15m or 10/500ms, all enforced together;
 * fixed-window also has 100/week, 100/month and 100/year
 * @param concurrent maximum number of requests of an identifier that run at the same
 * time, from 1 to 1000, beside limits or instead of them
 * @param concurrentLease how long a request still counts as running after its instance
 * has died, from 1s to 1d; requests that run longer are renewed; default: 1m
 * @param algorithm algorithm that counts requests: one of the library, or the name of a
 * custom Algorithm bean or class; default: ratelimit.defaults.algorithm
 * @param identifiers identifiers of requests, each with its own count, or code:NAME for
 * one that only code gives; default: ratelimit.defaults.identifiers
 * @param missingIdentifier what happens to requests that lack an identifier: skip does
 * not count them by it, deny denies them; an identifier such as ip counts requests that
 * lack all others; default: ratelimit.defaults.missing-identifier
 * @param paths path patterns to limit, such as /api/** or GET /user/**
 * @param exclude path patterns to exclude from these paths, such as /api/health or GET
 * /api/logo.png
 * @param when condition on the request: the policy applies only if it is true, such as
 * #request.getHeader('X-Channel') == 'web'
 * @param unless condition on the request: the policy does not apply if it is true, such
 * as #request.getHeader('X-Probe') == 'yes'
 * @param cost cost of a request on one of the paths; default: 1
 * @param routes path patterns with their own cost; the first that matches is used
 * @param unit unit of the quotas, such as bytes or tokens; default: requests
 * @param countDenied whether denied requests count as well; default:
 * ratelimit.defaults.count-denied
 * @param mode whether requests beyond the limits are denied, or only reported; default:
 * ratelimit.defaults.mode
 * @param onStoreFailure what happens to requests while the store fails: local limits them
 * in each instance separately, allow does not limit them, deny denies them; default:
 * ratelimit.defaults.on-store-failure
 * @param countWhen which responses count, such as status in [401, 403]; the cost of other
 * responses is refunded when they are complete
 * @param reset identifiers of the policy whose counts the responses of reset-when remove,
 * such as ip+account; no others
 * @param resetWhen which responses remove the counts of the identifiers in reset, such as
 * status in [200, 204], so that who succeeds starts anew
 * @param plans limits for the users of a plan, by the name of the plan
 * @param penalty blocks of identifiers that are denied too often
 * @param retain number of windows to keep for reading, including the current one; an
 * option of fixed-window
 * @param zone time zone in which windows of whole days, weeks, months and years begin at
 * midnight; an option of fixed-window
 * @param firstDayOfWeek day on which windows of a week begin; an option of fixed-window;
 * default: monday
 * @param precision length of a sub-window; an option of sliding-window
 * @param previousWeight weight of the previous window, from 0 to 1; an option of
 * sliding-window-counter
 * @param rounding rounding of the estimate; an option of sliding-window-counter
 * @param burst maximum number of tokens; an option of token-bucket
 * @param metadata expression on the request whose text is kept with it, such as
 * #request.getHeader('User-Agent') or #principal?.name, up to 256 characters; an option
 * of sliding-log
 * @param lease time for which each instance takes a part of the quota in advance, to
 * decide busy identifiers in memory, from 100ms to 1m; needs fixed-window or
 * first-request-window, and scripting. Default: every request is decided in the store
 * @since 0.1
 */
@ConfigurationPropertiesSource
public record PolicySettings(@Option(withoutLimits = true) @Nullable Boolean enabled,
		@Option(withoutLimits = true) @DefaultValue List<String> limits,
		@Option(withoutLimits = true) @Nullable Long concurrent,
		@Option(withoutLimits = true) @Nullable Duration concurrentLease, @Option @Nullable String algorithm,
		@Option(withoutLimits = true, restart = true) @DefaultValue List<String> identifiers,
		@Option(withoutLimits = true, restart = true, web = true) @Nullable String missingIdentifier,
		@Option(withoutLimits = true, restart = true, web = true) @DefaultValue List<String> paths,
		@Option(withoutLimits = true, restart = true, web = true) @DefaultValue List<String> exclude,
		@Option(withoutLimits = true, restart = true, web = true) @Nullable String when,
		@Option(withoutLimits = true, restart = true, web = true) @Nullable String unless,
		@Option(restart = true) @Nullable Long cost,
		@Option(withoutLimits = true, restart = true, web = true) @DefaultValue List<RouteSettings> routes,
		@Option(restart = true) @Nullable String unit, @Option @Nullable Boolean countDenied,
		@Option(withoutLimits = true) @Nullable Mode mode,
		@Option(withoutLimits = true) @Nullable OnStoreFailure onStoreFailure,
		@Option(web = true) @Nullable String countWhen, @Option(web = true) @Nullable String resetWhen,
		@Option(web = true) @DefaultValue List<String> reset,
		@Option(web = true) @DefaultValue Map<String, PlanSettings> plans, @Option @Nullable PenaltySettings penalty,
		@Option(algorithm = "fixed-window") @Nullable Integer retain,
		@Option(algorithm = "fixed-window") @Nullable ZoneId zone,
		@Option(algorithm = "fixed-window") @Nullable DayOfWeek firstDayOfWeek,
		@Option(algorithm = "sliding-window") @Nullable Duration precision,
		@Option(algorithm = "sliding-window-counter") @Nullable Double previousWeight,
		@Option(algorithm = "sliding-window-counter") @Nullable Rounding rounding,
		@Option(algorithm = "token-bucket") @Nullable Long burst,
		@Option(algorithm = "sliding-log", restart = true, web = true) @Nullable String metadata,
		@Option @Nullable Duration lease) {

	private static final Map<String, Option> OPTIONS = SetOptions.parameters(PolicySettings.class)
		.collect(Collectors.toMap(SetOptions::name, (option) -> option.getAnnotation(Option.class),
				(option, same) -> option, LinkedHashMap::new));

	/** Returns what is said of an option. */
	static Option option(String name) {
		return Objects.requireNonNull(OPTIONS.get(name), name);
	}

	/** Returns the names of all options. */
	static Set<String> names() {
		return OPTIONS.keySet();
	}

	/** Returns the cost of a request on one of the paths. */
	public long costOfPaths() {
		return (this.cost != null) ? this.cost : 1;
	}

	/** Returns the expressions on requests that are set. */
	public Stream<String> expressions() {
		return Stream.of(this.when, this.unless, this.metadata).filter(Objects::nonNull);
	}

	/**
	 * Returns an algorithm with its options that are set.
	 * @param algorithm an algorithm that has all of them
	 */
	Algorithm withOptions(Algorithm algorithm) {
		if (algorithm instanceof FixedWindow window) {
			return new FixedWindow(or(this.retain, window.retain()), or(this.zone, window.zone()),
					or(this.firstDayOfWeek, window.firstDayOfWeek()));
		}
		if (algorithm instanceof SlidingWindowCounter counter) {
			return new SlidingWindowCounter(or(this.previousWeight, counter.previousWeight()),
					or(this.rounding, counter.rounding()));
		}
		if (algorithm instanceof SlidingLog) {
			return new SlidingLog(true);
		}
		if (algorithm instanceof SlidingWindow) {
			return new SlidingWindow(this.precision);
		}
		if (algorithm instanceof TokenBucket) {
			return new TokenBucket(this.burst);
		}
		throw new IllegalStateException("No options are known of " + algorithm.name());
	}

	static <T> T or(@Nullable T value, T standard) {
		return (value != null) ? value : standard;
	}

	/**
	 * Path patterns with their own cost.
	 *
	 * @param paths path patterns, such as /api/** or GET /user/**
	 * @param cost cost of a request
	 */
	@ConfigurationPropertiesSource
	public record RouteSettings(@DefaultValue List<String> paths, @DefaultValue("1") long cost) {

	}

	/**
	 * Limits for the users of a plan.
	 *
	 * @param limits limits that replace those of the policy
	 * @param burst maximum number of tokens, which replaces that of the policy; an option
	 * of token-bucket
	 * @param unlimited whether the users of the plan are not limited by the policy
	 */
	@ConfigurationPropertiesSource
	public record PlanSettings(@DefaultValue List<String> limits, @Nullable Long burst,
			@DefaultValue("false") boolean unlimited) {

	}

	/**
	 * Blocks of identifiers that are denied too often.
	 *
	 * @param after number of denials that lead to a block, from 1 to 1000000
	 * @param within time in which the denials are counted
	 * @param block how long the first block lasts; each further one lasts twice as long
	 * as the one before
	 * @param upTo how long a block may last, and how long after its end the next one is
	 * longer; default: as long as block, so that all blocks last equally long
	 * @param mode whether identifiers are blocked, or penalties only reported; default:
	 * enforce
	 */
	@ConfigurationPropertiesSource
	public record PenaltySettings(@Nullable Integer after, @Nullable Duration within, @Nullable Duration block,
			@Nullable Duration upTo, @Nullable Mode mode) {

	}

	/**
	 * When an option of a policy has an effect. Without it, an option needs limits, and a
	 * refresh changes it.
	 */
	@Target(ElementType.PARAMETER)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Option {

		/** Whether it has an effect on a policy that limits only concurrent requests. */
		boolean withoutLimits() default false;

		/** Whether a change needs a restart. */
		boolean restart() default false;

		/** Whether it has an effect only on requests of HTTP. */
		boolean web() default false;

		/** The only algorithm that has the option; empty for all. */
		String algorithm() default "";

	}

}
