package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Charge;
import io.github.ratelimit.Limit;
import io.github.ratelimit.LimitStatus;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.test.EachAlgorithm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a request without scripts costs: which commands the server executes, and how often
 * the client waits for it. And what becomes of its Redis keys.
 */
class PipelineCommandsIT extends PipelineFixture {

	private static final String[] LIMITS = { "3/100d", "5/3650d" };

	private final DirectServers servers = DirectServers.create();

	/** By the real clock, with windows that do not end within the test. */
	private final PipelineRateLimiter counted = create(this.servers, this.keyPrefix);

	@RegisterExtension
	private final RedisMonitor monitor = new RedisMonitor(this.keyPrefix);

	private static RateLimitRequest everything() {
		return new RateLimitRequest(
				algorithms().map((algorithm) -> Charge.of(policy(algorithm.name(), algorithm, LIMITS), ALICE, ADDRESS))
					.toList());
	}

	@Test
	void callOfAllAlgorithmsIsOneRoundTripUnlessDenied() {
		RateLimitRequest request = everything();
		for (long trips : new long[] { 1, 1, 1, 2 }) {
			assertThat(this.counted.tryAcquire(request).allowed()).isEqualTo(trips == 1);
			assertThat(this.servers.count()).isEqualTo(trips);
		}
		assertThat(this.counted.peek(request).allowed()).isFalse();
		assertThat(this.servers.count()).isEqualTo(1);
		this.counted.charge(request);
		assertThat(this.servers.count()).isEqualTo(1);
	}

	@Test
	void previousWindowIsReadOnceAfterItIsFinal() throws InterruptedException {
		RateLimiter later = create(this.servers, this.keyPrefix).withClock(this.clock);
		Policy policy = Policy.of("api", new SlidingWindowCounter(), Limit.parse("100/m"));
		this.clock.set("2026-03-01T11:59:50Z");
		later.tryAcquire(policy, ALICE, 60);
		assertThat(keysRead()).containsExactly(2);
		// Others may still count in the window before.
		this.clock.set("2026-03-01T12:00:05.499999Z");
		later.tryAcquire(policy, ALICE);
		later.tryAcquire(policy, ALICE);
		assertThat(keysRead()).containsExactly(2, 2);
		this.clock.set("2026-03-01T12:00:05.5Z");
		later.tryAcquire(policy, ALICE);
		assertThat(keysRead()).containsExactly(2);
		this.clock.set("2026-03-01T12:00:30Z");
		assertThat(later.tryAcquire(policy, ALICE).statuses()).singleElement()
			.satisfies((status) -> assertThat(status.remaining()).isEqualTo(100 - 30 - 4));
		assertThat(keysRead()).containsExactly(1);
		later.reset(policy, ALICE);
		assertThat(later.tryAcquire(policy, ALICE, 99).allowed()).isTrue();
		assertThat(keysRead()).containsExactly(2);
	}

	private List<Integer> keysRead() throws InterruptedException {
		return this.monitor.executed()
			.stream()
			.filter((each) -> each.words().get(0).equalsIgnoreCase("MGET"))
			.map((each) -> each.words().size() - 1)
			.toList();
	}

	@EachAlgorithm
	void deniedRequestIsTakenBackInASecondRoundTrip(Algorithm algorithm) {
		Policy policy = policy(algorithm, LIMITS);
		assertThat(this.counted.tryAcquire(policy, ALICE, 3).allowed()).isTrue();
		assertThat(this.servers.count()).isEqualTo(1);
		assertThat(this.counted.tryAcquire(policy, ALICE).allowed()).isFalse();
		assertThat(this.servers.count()).isEqualTo(2);
		assertThat(this.counted.tryAcquire(policy.withCountDenied(true), ALICE).allowed()).isFalse();
		assertThat(this.servers.count()).isEqualTo(1);
	}

	@EachAlgorithm
	void requestStaysDeniedWhenItCannotBeCancelled(Algorithm algorithm) {
		Policy policy = policy(algorithm, LIMITS);
		this.counted.tryAcquire(policy, ALICE, 2);
		this.servers.before(2, () -> {
			throw new JedisConnectionException("Broken by the test");
		});
		assertThat(this.counted.tryAcquire(policy, ALICE, 2).allowed()).isFalse();
		assertThat(this.counted.tryAcquire(policy, ALICE).allowed()).isFalse();
	}

	static Stream<Arguments> commands() {
		return Stream.of(Arguments.of(new FixedWindow(), List.of("INCRBY", "PEXPIRE", "MGET")),
				Arguments.of(new FirstRequestWindow(), List.of("SET", "INCRBY", "MGET", "PTTL")));
	}

	@ParameterizedTest
	@MethodSource("commands")
	void deniedRequestIsReadAndTakenBack(Algorithm algorithm, List<String> commands) throws InterruptedException {
		Policy policy = policy(algorithm, "1/3650d");
		this.counted.tryAcquire(policy, ALICE);
		assertThat(this.monitor.commands()).isEqualTo(commands);
		this.counted.tryAcquire(policy, ALICE);
		assertThat(this.monitor.commands()).startsWith(commands.toArray(String[]::new))
			.endsWith("SET", "DECRBY")
			.hasSize(commands.size() + 2);
	}

	/** What is given back must not fall into the next window. */
	@Test
	void nothingIsGivenBackShortlyBeforeTheWindowEnds() throws InterruptedException {
		Policy full = policy("full", new FixedWindow(), "1/3650d");
		this.counted.tryAcquire(full, ALICE);
		this.monitor.commands();
		Policy policy = policy(new FirstRequestWindow(), "5/10s");
		assertThat(this.counted.tryAcquire(RateLimitRequest.of(Charge.of(policy, ALICE), Charge.of(full, ALICE)))
			.allowed()).isFalse();
		assertThat(this.monitor.commands()).containsExactly("SET", "INCRBY", "MGET", "PTTL", "INCRBY", "PEXPIRE",
				"MGET", "SET", "DECRBY");
		this.counted.refund(request(policy, 1));
		assertThat(this.monitor.commands()).containsExactly("MGET", "PTTL");
	}

	@Test
	void commandsOfSlidingWindowAreOneReadForEachPrecision() throws InterruptedException {
		Policy bySecond = policy(new SlidingWindow(Duration.ofSeconds(1)), "1000/s", "5000/10s", "7000/15s");
		this.counted.tryAcquire(bySecond, ALICE);
		assertThat(this.monitor.commands()).containsExactly("INCRBY", "PEXPIRE", "MGET");
		assertThat(this.servers.count()).isEqualTo(1);
		this.counted.tryAcquire(policy("own", new SlidingWindow(), LIMITS), ALICE);
		assertThat(this.monitor.commands()).containsExactly("INCRBY", "PEXPIRE", "MGET", "INCRBY", "PEXPIRE", "MGET");
	}

	@Test
	void impossibleCostsAndPeeksWriteNothing() throws InterruptedException {
		RateLimitRequest request = everything();
		Policy small = policy("small", new FixedWindow(), "1/3650d");
		this.counted.tryAcquire(RateLimitRequest.of(request.charges().get(0), request.charges().get(1),
				Charge.of(small, ALICE).withCost(2)));
		this.counted.peek(request);
		this.counted
			.tryAcquire(new RateLimitRequest(request.charges().stream().map((charge) -> charge.withCost(0)).toList()));
		assertThat(this.monitor.commands()).containsOnly("MGET", "PTTL");
		assertThat(keys()).isEmpty();
	}

	@Test
	void refundReadsAndThenWrites() throws InterruptedException {
		Policy policy = policy(new FixedWindow(), "5/3650d");
		this.counted.refund(request(policy, 1));
		assertThat(this.monitor.commands()).containsExactly("MGET");
		this.counted.tryAcquire(policy, ALICE, 2);
		this.monitor.commands();
		this.counted.refund(request(policy, 1));
		assertThat(this.monitor.commands()).containsExactly("MGET", "SET", "DECRBY");
	}

	@EachAlgorithm
	void keysExpireSoonAfterTheyMatter(Algorithm algorithm) {
		Policy policy = policy(algorithm, "5/1000d");
		LimitStatus status = this.plain.tryAcquire(policy, ALICE).statuses().get(0);
		long needed = status.resetAfter().toMillis();
		assertThat(keys()).isNotEmpty()
			.allSatisfy((key) -> assertThat(this.jedis.pttl(key)).isBetween(needed - 2000, needed + 5502));
	}

	@EachAlgorithm
	void everyKeyExpiresAndNoneIsProlonged(Algorithm algorithm) {
		Policy policy = policy(algorithm, "3/100d", "7/1000d");
		Policy full = policy("full", algorithm, "1/1000d");
		this.plain.tryAcquire(full, ALICE);
		RateLimitRequest request = request(policy, 1);
		this.plain.refund(request);
		this.plain.tryAcquire(request);
		this.plain.tryAcquire(RateLimitRequest.of(Charge.of(policy, ALICE), Charge.of(full, ALICE)));
		this.plain.tryAcquire(RateLimitRequest.of(Charge.of(policy.withCountDenied(true), ALICE).withCost(3)));
		Set<String> keys = keys();
		for (int i = 0; i < 6; i++) {
			long[] before = keys.stream().mapToLong(this.jedis::pttl).toArray();
			this.plain.refund(request);
			long[] after = keys.stream().mapToLong(this.jedis::pttl).toArray();
			for (int k = 0; k < before.length; k++) {
				assertThat(after[k]).isBetween(1L, Math.min(before[k], Duration.ofDays(2000).toMillis() + 5502));
			}
		}
		assertThat(remaining(this.plain, policy, ALICE)).containsExactly(3L, 7L);
		this.plain.reset(policy, ALICE);
		this.plain.reset(full, ALICE);
		assertThat(keys()).isEmpty();
	}

	@EachAlgorithm
	void keysThatDoNotExpireAreGivenAnEndAgain(Algorithm algorithm) {
		Policy policy = policy(algorithm, "9/1000d");
		RateLimitRequest request = request(policy, 1);
		this.plain.tryAcquire(policy, ALICE, 2);
		for (Consumer<RateLimitRequest> call : List.<Consumer<RateLimitRequest>>of(this.plain::tryAcquire,
				this.plain::charge)) {
			for (String key : keys()) {
				this.jedis.persist(key);
				this.plain.peek(request);
				assertThat(this.jedis.pttl(key)).isEqualTo(-1);
				call.accept(request);
				assertThat(keys()).allSatisfy((each) -> assertThat(this.jedis.pttl(each)).isPositive());
			}
		}
		assertThat(remaining(this.plain, policy, ALICE)).containsExactly(9L - 2 - 2 * keys().size());
	}

	static Stream<Arguments> harms() {
		return algorithms().flatMap((algorithm) -> Stream.of("list", "hash", "text", "negative", "huge")
			.map((harm) -> Arguments.of(algorithm, harm)));
	}

	@ParameterizedTest
	@MethodSource("harms")
	void foreignKeyIsReplacedAndOthersCountOnce(Algorithm algorithm, String harm) {
		Policy policy = policy(algorithm, "5/100d", "5/1000d");
		Policy other = policy("other", algorithm, "5/1000d");
		RateLimitRequest request = RateLimitRequest.of(Charge.of(other, ALICE).withCost(2),
				Charge.of(policy, ALICE).withCost(2));
		this.plain.tryAcquire(policy, ALICE);
		for (String key : keys()) {
			for (boolean charge : List.of(false, true)) {
				harm(key, harm);
				boolean counted = true;
				if (charge) {
					this.plain.charge(request);
					// What the key held is lost, and nothing else; too large a count is
					// one.
					assertThat(remaining(this.plain, policy, ALICE)).contains(2L)
						.containsAnyOf(3L, harm.equals("huge") ? 0L : 3L);
				}
				else {
					this.plain.peek(request);
					this.plain.refund(request(policy, 1));
					counted = this.plain.tryAcquire(request).allowed();
					assertThat(counted || harm.equals("huge")).isTrue();
				}
				assertThat(remaining(this.plain, other, ALICE)).containsExactly(counted ? 3L : 5L);
				assertThat(keys()).allSatisfy((each) -> assertThat(this.jedis.pttl(each)).isPositive());
				this.plain.reset(policy, ALICE);
				this.plain.reset(other, ALICE);
				this.plain.tryAcquire(policy, ALICE);
			}
		}
	}

	private void harm(String key, String harm) {
		this.jedis.del(key);
		switch (harm) {
			case "list" -> this.jedis.lpush(key, "1", "2");
			case "hash" -> this.jedis.hset(key, Map.of("count", "5"));
			case "text" -> this.jedis.set(key, "many");
			case "negative" -> this.jedis.set(key, "-3");
			default -> this.jedis.set(key, Long.toString(Long.MAX_VALUE));
		}
	}

	@Test
	void windowOfFirstRequestEndsByTheServersClock() {
		Policy policy = policy(new FirstRequestWindow(), "1/100ms");
		for (int window = 0; window < 5; window++) {
			long start = System.nanoTime();
			assertThat(this.plain.tryAcquire(policy, ALICE).allowed()).isTrue();
			while (!this.plain.tryAcquire(policy, ALICE).allowed()) {
				Thread.onSpinWait();
			}
			assertThat(System.nanoTime() - start).isGreaterThan(99_000_000L);
			this.plain.reset(policy, ALICE);
		}
	}

}
