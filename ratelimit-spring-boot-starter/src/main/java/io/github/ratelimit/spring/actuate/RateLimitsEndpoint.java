package io.github.ratelimit.spring.actuate;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.ratelimit.BlockList;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.RequestHistory;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.spring.actuate.RateLimitsDescriptor.BlockDescriptor;
import io.github.ratelimit.spring.actuate.RateLimitsDescriptor.CountsDescriptor;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.convert.DurationStyle;

/**
 * Shows the policies, the counts of an identifier, the blocks, and the identifiers that
 * were denied most. If {@code management.endpoint.ratelimits.access} is
 * {@code unrestricted}, it also resets counts, blocks and unblocks. An IPv6 address means
 * its network in a web application. The counts of every plan are shown, because the plans
 * of users are not known here.
 * <p>
 * Invalid requests are answered with 400, and all requests with 503 while the store
 * fails. Safe for use by several threads.
 *
 * @since 0.1
 */
@WebEndpoint(id = "ratelimits", defaultAccess = Access.READ_ONLY)
public final class RateLimitsEndpoint {

	/** Maximum number of requests of a log that are shown at once. */
	private static final int MAX_REQUESTS = 100;

	private static final List<String> PARTS = List.of("counts", "blocks", "denied");

	/** How lists show a value that is hashed with a secret. */
	private static final Pattern HASH = Pattern.compile("~[A-Za-z0-9_-]{43}");

	/** The identifiers denied most, for each policy. */
	private static final int DEFAULT_SIZE = 10;

	private final RateLimiter limiter;

	private final KnownPolicies policies;

	private final UnaryOperator<Identifier> counted;

	private final @Nullable BlockList blocks;

	private final @Nullable RequestHistory history;

	private final @Nullable MostDenied denied;

	private final boolean hashed;

	/**
	 * Creates an endpoint.
	 * @param counted returns an identifier as requests are counted by it; throws an
	 * IllegalArgumentException if they never are
	 * @param hashed whether the values of identifiers are hashed with a secret
	 */
	RateLimitsEndpoint(RateLimiter limiter, KnownPolicies policies, UnaryOperator<Identifier> counted,
			@Nullable BlockList blocks, @Nullable RequestHistory history, @Nullable MostDenied denied, boolean hashed) {
		this.limiter = limiter;
		this.policies = policies;
		this.counted = counted;
		this.blocks = blocks;
		this.history = history;
		this.denied = denied;
		this.hashed = hashed;
	}

	/**
	 * Returns all policies, and the methods that they limit.
	 * @return the policies
	 */
	@ReadOperation
	public Object policies() {
		return RateLimitsDescriptor.of(this.policies);
	}

	/**
	 * Returns the counts of an identifier, all blocks, or the identifiers that were
	 * denied most in the last five minutes.
	 * @param part {@code counts}, {@code blocks} or {@code denied}
	 * @param identifier the only identifier to show, such as {@code ip:203.0.113.7};
	 * {@code null} for all, which {@code counts} refuse
	 * @param policy the name of the only policy to show; {@code null} for all
	 * @param size the maximum number of {@code denied} identifiers of each policy, from 1
	 * to 100; 10 if {@code null}
	 * @param before shows the requests made before this time, such as
	 * {@code 2026-01-01T12:00:00.123456Z}, for {@code counts} of a policy that keeps a
	 * log; {@code null} for the newest
	 * @return 200, 400, 404 or 503 with a body
	 */
	@ReadOperation
	public WebEndpointResponse<Object> read(@Selector String part, @Nullable String identifier, @Nullable String policy,
			@Nullable String size, @Nullable String before) {
		return answer(part, () -> {
			if (before != null && !part.equals("counts")) {
				throw new IllegalArgumentException("Only counts have pages before some time.");
			}
			return switch (part) {
				case "counts" -> ok(part, counts(identifier, policy, before(before, policy)));
				case "denied" -> denied(identifier, policy, size(size));
				default -> ok(part, blocks().blocks().stream().map(BlockDescriptor::of).toList());
			};
		});
	}

	/**
	 * Blocks an identifier.
	 * @param part {@code blocks}
	 * @param identifier the identifier to block
	 * @param policy name of the policy to block the identifier in; {@code null} for all
	 * @param time how long to block, with a unit, such as {@code 1h}
	 * @param reason the reason, for people; {@code null} for an empty one
	 * @return 200, 400, 404 or 503 with a body
	 */
	@WriteOperation
	public WebEndpointResponse<Object> write(@Selector String part, @Nullable String identifier,
			@Nullable String policy, @Nullable String time, @Nullable String reason) {
		return answer(part, () -> {
			if (!part.equals("blocks")) {
				return notFound("Nothing can be written to '" + part + "'.");
			}
			return new WebEndpointResponse<>(BlockDescriptor.of(blocks().block(identifier(identifier), known(policy),
					time(time), Objects.requireNonNullElse(reason, ""))));
		});
	}

	/**
	 * Resets the counts of an identifier, or ends a block.
	 * @param part {@code counts} or {@code blocks}
	 * @param identifier the identifier
	 * @param policy name of the only policy to reset, or of the policy of the block;
	 * {@code null} for all
	 * @return 200, 400, 404 or 503 with a body
	 */
	@DeleteOperation
	public WebEndpointResponse<Object> delete(@Selector String part, @Nullable String identifier,
			@Nullable String policy) {
		return answer(part, () -> switch (part) {
			case "denied" -> notFound("Nothing can be deleted from '" + part + "'.");
			case "blocks" -> {
				Identifier who = identifier(identifier);
				yield blocks().unblock(who, known(policy)) ? ok("unblocked", who.toString())
						: notFound("There is no such block.");
			}
			default -> {
				Identifier who = identifier(identifier);
				List<IdentifiedPolicy> counting = this.policies.counting(who, policy);
				counting.forEach((all) -> all.policies()
					.forEach((each) -> this.policies.decider().counted().reset(Charge.of(each, who))));
				yield ok("reset", counting.stream().map((each) -> each.policy().name()).toList());
			}
		});
	}

	private List<CountsDescriptor> counts(@Nullable String identifier, @Nullable String policy,
			@Nullable Instant before) {
		Identifier who = identifier(identifier);
		List<CountsDescriptor> counts = new ArrayList<>();
		for (IdentifiedPolicy each : this.policies.counting(who, policy)) {
			counts.add(counts(who, each.policy(), null, before));
			each.plans().forEach((plan, instead) -> {
				if (instead.policy() != null) {
					counts.add(counts(who, instead.policy(), plan, before));
				}
			});
			if (each.concurrent() != null) {
				counts.add(counts(who, each.concurrent(), null, before));
			}
		}
		return counts;
	}

	private CountsDescriptor counts(Identifier identifier, Policy policy, @Nullable String plan,
			@Nullable Instant before) {
		Decision decision = this.limiter.peek(RateLimitRequest.of(policy, identifier));
		RequestHistory history = this.history;
		return CountsDescriptor.of(policy.name(), plan, identifier.toString(), decision,
				(history != null && policy.algorithm().keepsEntries())
						? history.entries(policy, identifier, MAX_REQUESTS, before) : null,
				(history != null && policy.algorithm().keepsWindows()) ? history.series(policy, identifier) : null);
	}

	private WebEndpointResponse<Object> denied(@Nullable String identifier, @Nullable String policy, int size) {
		if (this.denied == null) {
			return notFound("Denied requests are not counted: ratelimit.most-denied.enabled is false.");
		}
		Identifier who = (identifier != null) ? identifier(identifier) : null;
		return ok("denied", this.denied.list(who, known(policy), size));
	}

	/** Parses a size here, because Spring Boot answers other text without a body. */
	private static int size(@Nullable String text) {
		return (text == null) ? DEFAULT_SIZE : parse("size", text, (each) -> {
			int size = Integer.parseInt(each);
			return (size >= 1 && size <= MostDenied.MAX_ENTRIES) ? size : null;
		}, "must be from 1 to %s".formatted(MostDenied.MAX_ENTRIES));
	}

	/** A unit is required, because a number alone is ambiguous. */
	private static Duration time(@Nullable String text) {
		return parse("time", text, (each) -> each.matches(".*[^0-9]") ? DurationStyle.detectAndParse(each) : null,
				"must be a number with its unit, such as 30s, 15m, 1h or 7d");
	}

	/** Parses a time as requests are shown with it. */
	private @Nullable Instant before(@Nullable String text, @Nullable String policy) {
		if (text == null) {
			return null;
		}
		if (policy == null) {
			throw new IllegalArgumentException("A page before some time is one of a policy: name it.");
		}
		Stream<Policy> policies = this.policies.require(policy).policies().stream();
		if (this.history == null || policies.noneMatch((each) -> each.algorithm().keepsEntries())) {
			throw KnownPolicies.invalid("before", text, "the policy '%s' keeps no log of requests".formatted(policy));
		}
		return parse("before", text, Instant::parse,
				"must be the time of a request, such as 2026-01-01T12:00:00.123456Z");
	}

	private static <T> T parse(String name, @Nullable String text, Function<String, @Nullable T> parser, String rule) {
		try {
			T value = (text != null) ? parser.apply(text) : null;
			if (value != null) {
				return value;
			}
		}
		catch (IllegalArgumentException | DateTimeException | ArithmeticException ex) {
			// Refused below, like a value that is out of range.
		}
		throw KnownPolicies.invalid(name, text, rule);
	}

	private Identifier identifier(@Nullable String text) {
		if (text == null) {
			throw new IllegalArgumentException("Invalid identifier: must be given, such as ip:203.0.113.7.");
		}
		Identifier identifier = this.policies.parse(text);
		if (this.hashed && HASH.matcher(identifier.value()).matches()) {
			// It would be hashed again, and mean nobody.
			throw KnownPolicies.invalid("identifier", text,
					"is a hash. Name the identifier itself, such as ip:203.0.113.7");
		}
		return this.counted.apply(identifier);
	}

	private @Nullable String known(@Nullable String policy) {
		return (policy != null) ? this.policies.require(policy).policy().name() : null;
	}

	private BlockList blocks() {
		if (this.blocks == null) {
			throw new IllegalArgumentException("The store does not support blocks.");
		}
		return this.blocks;
	}

	private static WebEndpointResponse<Object> answer(String part, Supplier<WebEndpointResponse<Object>> operation) {
		if (!PARTS.contains(part)) {
			return notFound("There is no '%s', only %s.".formatted(part, String.join(", ", PARTS)));
		}
		try {
			return operation.get();
		}
		catch (IllegalArgumentException ex) {
			return error(WebEndpointResponse.STATUS_BAD_REQUEST, String.valueOf(ex.getMessage()));
		}
		catch (StoreException ex) {
			return new WebEndpointResponse<>(Map.of("error", String.valueOf(ex.getMessage()), "cause", ex.reason()),
					WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
		}
	}

	private static WebEndpointResponse<Object> ok(String name, Object value) {
		return new WebEndpointResponse<>(Map.of(name, value));
	}

	private static WebEndpointResponse<Object> notFound(String message) {
		return error(WebEndpointResponse.STATUS_NOT_FOUND, message);
	}

	private static WebEndpointResponse<Object> error(int status, String message) {
		return new WebEndpointResponse<>(Map.of("error", message), status);
	}

}
