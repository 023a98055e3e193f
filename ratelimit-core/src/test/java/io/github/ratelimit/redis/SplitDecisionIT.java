package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.redis.connection.Call;
import io.github.ratelimit.redis.connection.CallException;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.Scripts;
import io.github.ratelimit.redis.script.template.Composer;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.RateLimiterContract;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A decision whose slot is moving, so that it is made one Redis key at a time, and one of
 * whose calls fails.
 */
class SplitDecisionIT {

	private static final Identifier FIRST = Identifier.user("first");

	private static final Identifier SECOND = Identifier.user("second");

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final ManualClock clock = new ManualClock("2026-03-01T12:00:20Z");

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix)
		.withClock(this.clock);

	static List<Algorithm> algorithms() {
		return RateLimiterContract.algorithms().toList();
	}

	/** The identifiers have a call for their counts, and another one for their blocks. */
	@ParameterizedTest
	@MethodSource("algorithms")
	void reservationIsCancelledOnceWhenAnotherCallFails(Algorithm algorithm) {
		Policy policy = Policy.of("api", algorithm, Limit.parse("10/d"));
		this.limiter.tryAcquire(policy, FIRST, 5);
		MovingSlot servers = new MovingSlot(TestRedis.connections().servers());
		Duration budget = TestRedis.PATIENCE;
		RateLimitRequest request = RateLimitRequest.of(Charge.of(policy, FIRST, SECOND).withCost(2));
		SplitDecision decision = new SplitDecision(
				new Scripts(new RedisKeys(this.keyPrefix), servers, this.clock, Composer::compose), servers, request,
				budget, System.nanoTime() + budget.toNanos());
		assertThatExceptionOfType(JedisException.class)
			.isThrownBy(() -> decision.acquire(List.of(new SlotRequest(request, Scope.ALL))));
		// Cancelled in the background, perhaps on another connection.
		assertThat(servers.submitted).allMatch((call) -> call.await(System.nanoTime() + TestRedis.PATIENCE.toNanos()));
		assertThat(this.limiter.peek(RateLimitRequest.of(policy, FIRST)).statuses().get(0).remaining()).isEqualTo(5);
	}

	/**
	 * Refuses the first call, and loses the one for the count of the second identifier.
	 */
	private static final class MovingSlot implements Servers {

		private final Servers servers;

		private final List<Call> submitted = new ArrayList<>();

		MovingSlot(Servers servers) {
			this.servers = servers;
		}

		@Override
		public int slot(byte[] key) {
			return this.servers.slot(key);
		}

		@Override
		public void submit(Call call) {
			this.submitted.add(call);
			switch (this.submitted.size()) {
				case 1 -> call.fail(new JedisDataException("TRYAGAIN Multiple keys request during rehashing of slot"));
				case 3 -> call.fail(new CallException(Reason.UNANSWERED, "Lost", null));
				default -> this.servers.submit(call);
			}
		}

		@Override
		public void close() {
		}

	}

}
