package io.github.ratelimit.spring.actuate;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;

import io.github.ratelimit.Block;
import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.PenaltyListener;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.redis.RedisListener;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.github.ratelimit.spring.RateLimiterDecorator;
import io.github.ratelimit.spring.actuate.RateLimitsDescriptor.PolicyDescriptor;
import io.github.ratelimit.spring.decide.WaitListener;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

/**
 * All meters: decisions and penalties by policy, errors of the store by kind, and round
 * trips to Redis by server. Their number does not depend on the number of identifiers.
 * Those that alerts may be on are created before their first event, because an alert does
 * not see an increase if the time series did not exist before.
 * <p>
 * Safe for use by several threads.
 */
final class RateLimitMetrics implements WaitListener, PenaltyListener, RedisListener, RateLimiterDecorator {

	private static final int SOURCES = Decision.Source.values().length;

	private final MeterRegistry registry;

	/** The timers of each policy, so that a decision only looks them up. */
	private final Map<String, AtomicReferenceArray<@Nullable Timer>> decisions = new ConcurrentHashMap<>();

	/** The timers of each policy that callers have waited for, by how that ended. */
	private final Map<String, Map<End, Timer>> waits = new ConcurrentHashMap<>();

	private final Map<String, Server> servers = new ConcurrentHashMap<>();

	RateLimitMetrics(MeterRegistry registry) {
		this.registry = registry;
		for (RedisErrorKind kind : RedisErrorKind.values()) {
			errors(kind);
		}
	}

	void register(OutageRateLimiter outage) {
		Gauge.builder("ratelimit.store.failing", outage, (state) -> state.failingSince().isPresent() ? 1 : 0)
			.description("1 while the store fails and the on-store-failure of each policy applies, else 0")
			.register(this.registry);
		Gauge.builder("ratelimit.breaker.open", outage, (state) -> state.isUnanswered() ? 1 : 0)
			.description("1 while the store does not answer, else 0")
			.register(this.registry);
		FunctionCounter.builder("ratelimit.store.busy", outage, OutageRateLimiter::busyCount)
			.description("Requests that were limited in memory because the store was too busy to answer in time")
			.register(this.registry);
	}

	/**
	 * Creates the meters of a policy, for each possible outcome. A policy beside it for
	 * concurrent calls has meters of its own.
	 */
	void register(IdentifiedPolicy policy) {
		if (policy.concurrent() != null) {
			policy.calls().ifPresent(this::register);
		}
		String name = policy.policy().name();
		boolean shadow = policy.enforcement().mode() == Mode.SHADOW;
		if (policy.policy().penalty() != null) {
			penalties(name, shadow || policy.policy().penalty().shadow());
		}
		decisions(name, Outcome.ALLOWED, Decision.Source.STORE);
		decisions(name, Outcome.STORE_FAILED_ALLOWED, Decision.Source.NONE);
		if (shadow) {
			decisions(name, Outcome.SHADOW_DENIED, Decision.Source.STORE);
			return;
		}
		decisions(name, Outcome.DENIED, Decision.Source.STORE);
		decisions(name, Outcome.DENIED_BY_OTHER, Decision.Source.STORE);
		decisions(name, Outcome.BLOCKED, Decision.Source.STORE);
		decisions(name, Outcome.STORE_FAILED_DENIED, Decision.Source.NONE);
		decisions(name, Outcome.DENIED, Decision.Source.DENIAL_CACHE);
		if (policy.policy().lease() != null) {
			decisions(name, Outcome.ALLOWED, Decision.Source.LEASE);
		}
		if (policy.enforcement().onStoreFailure() != OnStoreFailure.DENY) {
			decisions(name, Outcome.ALLOWED, Decision.Source.LOCAL);
			decisions(name, Outcome.DENIED, Decision.Source.LOCAL);
		}
	}

	@Override
	public void decided(PolicyDecision decision) {
		decisions(decision.policy().policy().name(), decision.outcome(), decision.source()).record(decision.time());
	}

	private Timer decisions(String policy, Outcome outcome, Decision.Source source) {
		AtomicReferenceArray<@Nullable Timer> timers = this.decisions.get(policy);
		if (timers == null) {
			timers = this.decisions.computeIfAbsent(policy,
					(name) -> new AtomicReferenceArray<>(Outcome.values().length * SOURCES));
		}
		int index = outcome.ordinal() * SOURCES + source.ordinal();
		Timer timer = timers.get(index);
		if (timer == null) {
			timer = Timer.builder("ratelimit.decisions")
				.description("Decisions by policy, and the time they took")
				.tags("policy", policy, "outcome", PolicyDescriptor.text(outcome))
				.tag("source", PolicyDescriptor.text(source))
				.register(this.registry);
			timers.set(index, timer);
		}
		return timer;
	}

	@Override
	public void waited(String policy, End end, Duration time) {
		this.waits.computeIfAbsent(policy, (name) -> new ConcurrentHashMap<>())
			.computeIfAbsent(end, (each) -> waits(policy, each))
			.record(time);
	}

	private Timer waits(String policy, End end) {
		return Timer.builder("ratelimit.waits")
			.description("How long callers have waited for a policy, also those that had not to")
			.tags("policy", policy, "outcome", PolicyDescriptor.text(end))
			.register(this.registry);
	}

	@Override
	public void penalized(Block block, boolean shadow) {
		penalties(String.valueOf(block.policy()), shadow).increment();
	}

	private Counter penalties(String policy, boolean shadow) {
		return Counter.builder("ratelimit.penalties")
			.description("Identifiers that were denied too often, by policy")
			.tags("policy", policy, "mode", shadow ? "shadow" : "enforce")
			.register(this.registry);
	}

	@Override
	public RateLimiter decorate(RateLimiter limiter) {
		return new DelegatingRateLimiter(limiter) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				return counted(() -> super.tryAcquire(request));
			}

			@Override
			public Decision peek(RateLimitRequest request) {
				return counted(() -> super.peek(request));
			}

			@Override
			public void refund(RateLimitRequest request) {
				counted(() -> super.refund(request));
			}

			@Override
			public void charge(RateLimitRequest request) {
				counted(() -> super.charge(request));
			}

		};
	}

	private <T> T counted(Supplier<T> call) {
		try {
			return call.get();
		}
		catch (StoreException ex) {
			errors(RedisErrorKind.of(ex)).increment();
			throw ex;
		}
	}

	private void counted(Runnable call) {
		counted(() -> {
			call.run();
			return true;
		});
	}

	private Counter errors(RedisErrorKind kind) {
		return Counter.builder("ratelimit.store.errors")
			.description("Errors of the store when it was asked for decisions")
			.tag("kind", kind.text())
			.register(this.registry);
	}

	@Override
	public void queueFull(String server) {
		server(server).queueFull().increment();
	}

	@Override
	public void answered(String server, int calls, Duration time) {
		server(server).roundTrips().record(time);
		server(server).calls().record(calls);
	}

	private Server server(String server) {
		return this.servers.computeIfAbsent(server, (address) -> new Server(this.registry, address));
	}

	/** The meters of a server. */
	private record Server(Timer roundTrips, DistributionSummary calls, Counter queueFull) {

		Server(MeterRegistry registry, String server) {
			this(Timer.builder("ratelimit.redis.round-trips")
				.description("Round trips to Redis, from the first byte sent to the last byte received")
				.tag("server", server)
				.register(registry),
					DistributionSummary.builder("ratelimit.redis.calls")
						.description("Decisions and other calls in a round trip")
						.tag("server", server)
						.register(registry),
					Counter.builder("ratelimit.redis.queue-full")
						.description("Decisions that were not accepted because too many others waited")
						.tag("server", server)
						.register(registry));
		}

	}

}
