package io.github.ratelimit.outage;

import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.redis.RedisConnections;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
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
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
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
	private static final String LATE = "The store did not decide in time";

	private final Policy policy = Policy.of("api", new FixedWindow(), new Limit(3, Limit.MAX_WINDOW));

	private final RateLimitRequest request = RateLimitRequest.of(this.policy, ALICE);

	private final int port = TestRedis.freePort();

	private final RedisConnections redis = TestRedis.connections(URI.create("redis://127.0.0.1:" + this.port)).build();

	private final RateLimiter store = RedisRateLimiter.of(this.redis);

	private final OutageRateLimiter limiter = new OutageRateLimiter(this.store, (policy) -> OnStoreFailure.ALLOW,
			new LocalRateLimiter(new MemoryRateLimiter(InstantSource.system())),
			(failure) -> RedisErrorKind.of(failure).isUnanswered());

	private final Logger logger = (Logger) LoggerFactory.getLogger(OutageRateLimiter.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private RedisServer server;

	@BeforeEach
	void startServer() {
		this.server = TestRedis.startServer(this.port);
		this.log.start();
		this.logger.addAppender(this.log);
		this.logger.setAdditive(false);
	}

	@AfterEach
	void stopServer() {
		this.logger.setAdditive(true);
		this.logger.detachAppender(this.log);
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
	void requestsAreAllowedUnseenWhileRedisIsDown() {
		this.limiter.tryAcquire(this.request);
		stopUntilKnown();
		for (int i = 0; i < 5; i++) {
			assertThat(this.limiter.tryAcquire(this.request)).isEqualTo(ALLOWED_UNSEEN);
			assertThat(this.limiter.peek(this.request)).isEqualTo(ALLOWED_UNSEEN);
			this.limiter.refund(this.request);
		}
		assertThat(this.limiter.tryAcquire(this.request).retryAfter()).contains(Duration.ZERO);
	}

	@Test
	void limitsAreEnforcedAgainWhenRedisIsBack() {
		this.limiter.tryAcquire(this.request);
		TestRedis.stop(this.server);
		this.limiter.tryAcquire(this.request);
		startAgain();
		for (long remaining = 2; remaining >= 0; remaining--) {
			assertThat(this.limiter.tryAcquire(this.request).statuses()).extracting(LimitStatus::remaining)
				.containsExactly(remaining);
		}
		assertThat(this.limiter.tryAcquire(this.request).allowed()).isFalse();
	}

	@Test
	void beginAndEndOfAnOutageAreLoggedOnce() {
		this.limiter.tryAcquire(this.request);
		assertThat(this.log.list).isEmpty();
		for (int outage = 0; outage < 2; outage++) {
			stopUntilKnown();
			this.limiter.refund(this.request);
			this.limiter.tryAcquire(this.request);
			this.limiter.peek(this.request);
			assertThat(this.log.list).filteredOn((event) -> !event.getFormattedMessage().startsWith(LATE))
				.singleElement()
				.satisfies((event) -> {
					assertThat(event.getLevel()).isEqualTo(Level.WARN);
					assertThat(event.getFormattedMessage()).startsWith(
							"The store failed: until it answers, the on-store-failure of each policy applies. Redis failed");
					assertThat(event.getFormattedMessage()).contains("ConnectException");
				});
			this.log.list.clear();
			startAgain();
			this.limiter.tryAcquire(this.request);
			this.limiter.peek(this.request);
			assertThat(this.log.list).singleElement().satisfies((event) -> {
				assertThat(event.getLevel()).isEqualTo(Level.INFO);
				assertThat(event.getFormattedMessage()).isEqualTo("The store answers again: limits are enforced");
			});
			this.log.list.clear();
		}
	}

}
