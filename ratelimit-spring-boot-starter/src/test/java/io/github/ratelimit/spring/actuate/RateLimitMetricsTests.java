package io.github.ratelimit.spring.actuate;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.spring.PolicyDecision;
import io.github.ratelimit.spring.PolicyDecision.Outcome;
import io.github.ratelimit.spring.policy.Enforcement;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import io.github.ratelimit.spring.policy.Mode;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.HostAndPort;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RateLimitMetrics}.
 */
class RateLimitMetricsTests {

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final RateLimitMetrics metrics = new RateLimitMetrics(this.registry);

	@Test
	void decisionsAreCountedAndTimedByPolicyOutcomeAndSource() {
		decide("api", Outcome.ALLOWED, Decision.Source.STORE, 100);
		decide("api", Outcome.ALLOWED, Decision.Source.STORE, 300);
		decide("api", Outcome.DENIED_BY_OTHER, Decision.Source.STORE, 100);
		decide("login", Outcome.STORE_FAILED_DENIED, Decision.Source.NONE, 7);
		Timer allowed = timer("api", "allowed", "store");
		assertThat(allowed.count()).isEqualTo(2);
		assertThat(allowed.totalTime(MICROSECONDS)).isEqualTo(400);
		assertThat(timer("api", "denied-by-other", "store").count()).isEqualTo(1);
		assertThat(timer("login", "store-failed-denied", "none").totalTime(MICROSECONDS)).isEqualTo(7);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					ENFORCE | DENY  | allowed store, blocked store, denied denial-cache, denied store, denied-by-other store, store-failed-allowed none, store-failed-denied none
					ENFORCE | ALLOW | allowed local, allowed store, blocked store, denied denial-cache, denied local, denied store, denied-by-other store, store-failed-allowed none, store-failed-denied none
					ENFORCE | LOCAL | allowed local, allowed store, blocked store, denied denial-cache, denied local, denied store, denied-by-other store, store-failed-allowed none, store-failed-denied none
					SHADOW  | ALLOW | allowed store, shadow-denied store, store-failed-allowed none
					""")
	void metersOfPossibleOutcomesArePresentBeforeFirstDecision(Mode mode, OnStoreFailure failure, String meters) {
		this.metrics.register(policy("api", mode).withEnforcement(new Enforcement(mode, failure, null)));
		assertThat(this.registry.get("ratelimit.decisions").timers()).allMatch((timer) -> timer.count() == 0)
			.extracting((timer) -> timer.getId().getTag("outcome") + " " + timer.getId().getTag("source"))
			.containsExactlyInAnyOrder(meters.split(", "));
		decide("api", Outcome.ALLOWED, Decision.Source.STORE, 1);
		assertThat(this.registry.get("ratelimit.decisions").timers()).hasSize(meters.split(", ").length);
	}

	@Test
	void everyKindOfErrorIsThereFromTheStart() {
		assertThat(errors().keySet()).containsExactly("busy", "clusterdown", "connection", "error-reply", "loading",
				"masterdown", "misconf", "noauth", "node", "noperm", "noreplicas", "noscript", "oom", "other",
				"overload", "readonly", "timeout", "wrong-reply", "wrongpass", "wrongtype");
		assertThat(errors().values()).containsOnly(0.0);
	}

	/** Whether a call was sent before its time was over is a matter of chance. */
	@Test
	void failuresOfAllCallsAreCountedByKind() throws IOException {
		RateLimitRequest request = RateLimitRequest.of(policy("api", Mode.ENFORCE).policy(), Identifier.GLOBAL);
		try (ServerSocket hanging = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
				RedisConnections redis = RedisConnections.server(new HostAndPort("127.0.0.1", hanging.getLocalPort()))
					.timeBudget(Duration.ofMillis(100))
					.build()) {
			RateLimiter limiter = this.metrics.decorate(RedisRateLimiter.of(redis));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.tryAcquire(request));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.peek(request));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.refund(request));
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> limiter.charge(request));
		}
		Map<String, Double> counts = errors();
		assertThat(counts.remove("timeout") + counts.remove("overload")).isEqualTo(4);
		assertThat(counts.values()).containsOnly(0.0);
	}

	@Test
	void answerIsNoError() {
		RateLimiter limiter = this.metrics.decorate(new MemoryRateLimiter(InstantSource.system()));
		RateLimitRequest request = RateLimitRequest.of(policy("api", Mode.ENFORCE).policy(), Identifier.GLOBAL);
		assertThat(limiter.tryAcquire(request).allowed()).isTrue();
		assertThat(limiter.tryAcquire(request).allowed()).isFalse();
		assertThat(errors().values()).containsOnly(0.0);
	}

	@Test
	void roundTripsAndFullQueuesAreCountedByServer() {
		this.metrics.answered("a:1", 7, Duration.ofMillis(3));
		this.metrics.queueFull("a:1");
		this.metrics.queueFull("b:1");
		assertThat(this.registry.get("ratelimit.redis.calls").tag("server", "a:1").summary().totalAmount())
			.isEqualTo(7);
		assertThat(this.registry.get("ratelimit.redis.round-trips").tag("server", "a:1").timer().count()).isOne();
		assertThat(this.registry.get("ratelimit.redis.queue-full").tag("server", "a:1").counter().count()).isOne();
	}

	private Map<String, Double> errors() {
		Map<String, Double> counts = new TreeMap<>();
		this.registry.get("ratelimit.store.errors")
			.counters()
			.forEach((counter) -> counts.put(counter.getId().getTag("kind"), counter.count()));
		return counts;
	}

	private Timer timer(String policy, String outcome, String source) {
		return this.registry.get("ratelimit.decisions")
			.tags("policy", policy, "outcome", outcome, "source", source)
			.timer();
	}

	private void decide(String name, Outcome outcome, Decision.Source source, long micros) {
		IdentifiedPolicy policy = policy(name, Mode.ENFORCE);
		this.metrics.decided(new PolicyDecision(policy, Charge.of(policy.policy(), Identifier.user("alice")), null,
				outcome, source, Duration.ofNanos(micros * 1000), List.of()));
	}

	private static IdentifiedPolicy policy(String name, Mode mode) {
		return new IdentifiedPolicy(Policy.of(name, new SlidingLog(), Limit.parse("1/m")), List.of("user"),
				new Enforcement(mode, OnStoreFailure.ALLOW, null));
	}

}
