package io.github.ratelimit.redis;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.lease.LeasedRateLimiter;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.outage.LocalRateLimiter;
import io.github.ratelimit.outage.OnStoreFailure;
import io.github.ratelimit.outage.OutageRateLimiter;
import io.github.ratelimit.test.ClusterProxies;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.StoreTest;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers wait for Redis without a monitor: before Java 24, a virtual thread that holds
 * one keeps its carrier.
 */
@Timeout(60)
class ParkedCallersIT extends StoreTest {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final Policy POLICY = policy(new FixedWindow(), "100/d").withLease(Duration.ofMinutes(1));

	private static final RateLimitRequest REQUEST = request(POLICY, 1);

	static Stream<Named<Function<RedisConnections, RateLimiter>>> limiters() {
		return Stream.of(Named.of("scripts", ParkedCallersIT::scripts),
				Named.of("plain commands", (redis) -> PipelineRateLimiter.of(redis, TestRedis.newKeyPrefix())),
				Named.of("denial cache", (redis) -> new DenialCache(Duration.ofMinutes(1), 1000).cache(scripts(redis))),
				Named.of("outages", (redis) -> new OutageRateLimiter(scripts(redis), (policy) -> OnStoreFailure.DENY,
						new LocalRateLimiter(new MemoryRateLimiter(InstantSource.system())), (failure) -> true)),
				// It asks for the next part of the quota.
				Named.of("leases", (redis) -> new LeasedRateLimiter(scripts(redis))));
	}

	private static RateLimiter scripts(RedisConnections redis) {
		return RedisRateLimiter.of(redis, TestRedis.newKeyPrefix());
	}

	@ParameterizedTest
	@MethodSource("limiters")
	void callerOfOneServerHoldsNoMonitor(Function<RedisConnections, RateLimiter> limiters) throws Exception {
		try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri());
				RedisConnections redis = TestRedis.connections(proxy.uri()).timeBudget(LONG).build()) {
			RateLimiter limiter = limiters.apply(redis);
			assertHoldsNoMonitor(() -> limiter.tryAcquire(REQUEST), proxy);
		}
	}

	@Test
	void callerOfSeveralNodesHoldsNoMonitor() throws Exception {
		TestCluster cluster = TestCluster.shared();
		RateLimitRequest request = RateLimitRequest.of(POLICY,
				ClusterKeys.onDifferentMasters(cluster).toArray(Identifier[]::new));
		try (ClusterProxies proxies = new ClusterProxies(cluster);
				RedisConnections redis = cluster.connections().config(proxies.config()).timeBudget(LONG).build()) {
			RateLimiter limiter = scripts(redis);
			assertHoldsNoMonitor(() -> limiter.tryAcquire(request), proxies.all().toArray(FaultyProxy[]::new));
		}
	}

	/** The first call connects, and loads classes and scripts. */
	private static void assertHoldsNoMonitor(Runnable call, FaultyProxy... proxies) throws Exception {
		call.run();
		Stream.of(proxies).forEach((proxy) -> proxy.delay(LONG));
		Thread caller = new Thread(() -> {
			try {
				call.run();
			}
			catch (StoreException ex) {
				// The connections are broken in the end.
			}
		});
		caller.start();
		AtomicReference<ThreadInfo> parked = new AtomicReference<>();
		try {
			TestCluster.await("The caller waits for the answer", () -> {
				parked.set(look(caller));
				return parked.get() != null && isWaiting(parked.get());
			});
		}
		finally {
			Stream.of(proxies).forEach(FaultyProxy::close);
		}
		assertThat(parked.get().getLockedMonitors()).isEmpty();
		caller.join();
	}

	private static ThreadInfo look(Thread thread) {
		return ManagementFactory.getThreadMXBean().getThreadInfo(new long[] { thread.getId() }, true, false)[0];
	}

	private static boolean isWaiting(ThreadInfo info) {
		return info.getThreadState() == Thread.State.TIMED_WAITING
				&& Stream.of(info.getStackTrace()).map(StackTraceElement::getMethodName).anyMatch("parkNanos"::equals)
				&& Stream.of(info.getStackTrace())
					.anyMatch((frame) -> frame.getClassName().endsWith(".redis.connection.Call"));
	}

}
