package io.github.ratelimit.outage;

import java.net.URI;
import java.time.InstantSource;

import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.CapturedLog;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.embedded.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A Redis that is stopped and started again.
 */
class OutageIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final Decision ALLOWED_UNSEEN = Decision.withoutStore();

	/** How the log begins of the call that found its connection broken. */
	private static final String LATE = "WARN The store did not decide in time";

	private final Policy policy = Policy.of("api", new FixedWindow(), new Limit(3, Limit.MAX_WINDOW));

	private final RateLimitRequest request = RateLimitRequest.of(this.policy, ALICE);

	private final int port = TestRedis.freePort();

	private final RedisConnections redis = TestRedis.connections(URI.create("redis://127.0.0.1:" + this.port)).build();

	private final RateLimiter store = RedisRateLimiter.of(this.redis);

	private final OutageRateLimiter limiter = new OutageRateLimiter(this.store, (policy) -> OnStoreFailure.ALLOW,
			new LocalRateLimiter(new MemoryRateLimiter(InstantSource.system())),
			(failure) -> RedisErrorKind.of(failure).isUnanswered());

	@RegisterExtension
	private final CapturedLog log = new CapturedLog(OutageRateLimiter.class);

	private RedisServer server;

	@BeforeEach
	void startServer() {
		this.server = TestRedis.startServer(this.port);
	}

	@AfterEach
	void stopServer() {
		this.redis.close();
		TestRedis.stop(this.server);
	}

	/** A connection may be noticed to be broken only by the call that is sent over it. */
	private void stopUntilKnown() {
		TestRedis.stop(this.server);
		TestCluster.await("It is known", () -> this.limiter.peek(this.request).equals(ALLOWED_UNSEEN));
	}

	/** Whether it answers is looked for every second. */
	private void startAgain() {
		this.server = TestRedis.startServer(this.port);
		TestCluster.await("Redis answers again", () -> !this.limiter.peek(this.request).statuses().isEmpty());
	}

	@Test
	void storeThrowsWhileRedisIsDown() {
		this.store.tryAcquire(this.request);
		TestRedis.stop(this.server);
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.store.tryAcquire(this.request))
			.withMessage("Redis failed to decide a request")
			.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.CONNECTION));
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.store.peek(this.request))
			.withMessage("Redis failed to read counts");
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.store.refund(this.request))
			.withMessage("Redis failed to refund a request");
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.store.charge(this.request))
			.withMessage("Redis failed to charge a request");
		assertThatExceptionOfType(StoreException.class).isThrownBy(() -> this.store.reset(this.policy, ALICE))
			.withMessage("Redis failed to reset a count of the policy 'api'")
			.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.CONNECTION));
	}

	@Test
	void requestsAreAllowedOnlyWhileRedisIsDown() {
		this.limiter.tryAcquire(this.request);
		assertThat(this.log.lines()).isEmpty();
		for (int outage = 0; outage < 2; outage++) {
			stopUntilKnown();
			assertThat(this.limiter.tryAcquire(this.request)).isEqualTo(ALLOWED_UNSEEN);
			assertThat(this.limiter.peek(this.request)).isEqualTo(ALLOWED_UNSEEN);
			this.limiter.refund(this.request);
			assertThat(this.log.lines()).filteredOn((line) -> !line.startsWith(LATE))
				.singleElement()
				.asString()
				.startsWith("WARN The store failed: until it answers, the on-store-failure of each policy applies."
						+ " Redis failed")
				.contains("ConnectException");
			this.log.clear();
			startAgain();
			for (long remaining = 2; remaining >= 0; remaining--) {
				assertThat(this.limiter.tryAcquire(this.request).statuses()).extracting(LimitStatus::remaining)
					.containsExactly(remaining);
			}
			assertThat(this.limiter.tryAcquire(this.request).allowed()).isFalse();
			assertThat(this.log.lines()).containsExactly("INFO The store answers again: limits are enforced");
			this.log.clear();
		}
	}

}
