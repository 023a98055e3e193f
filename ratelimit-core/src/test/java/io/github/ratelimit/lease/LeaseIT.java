package io.github.ratelimit.lease;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FirstRequestWindow;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.JedisClients;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Leases of a real Redis, with the clocks as they are.
 */
class LeaseIT {

	private static final Identifier ALICE = Identifier.user("alice");

	private static final int QUOTA = 60_000;

	/** One window for the whole test, which no clock ends. */
	private static final Policy POLICY = Policy
		.of("api", new FirstRequestWindow(), new Limit(QUOTA, Duration.ofHours(1)))
		.withLease(Duration.ofMillis(200));

	private static final RateLimitRequest REQUEST = RateLimitRequest.of(POLICY, ALICE);

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RateLimiter redis = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);

	/** What three processes admit, each with eight threads, until all is used. */
	@Test
	@Timeout(120)
	void severalProcessesAdmitExactlyTheQuota() throws Exception {
		AtomicLong allowed = new AtomicLong();
		AtomicLong leased = new AtomicLong();
		List<LeasedRateLimiter> processes = Stream.generate(() -> new LeasedRateLimiter(this.redis)).limit(3).toList();
		Threads.run(24, 1, (thread, attempt) -> {
			while (allowed.get() < QUOTA) {
				Decision decision = processes.get(thread % 3).tryAcquire(REQUEST);
				allowed.addAndGet(decision.allowed() ? 1 : 0);
				leased.addAndGet((decision.source() == Source.LEASE) ? 1 : 0);
			}
		});
		assertThat(allowed).hasValue(QUOTA);
		assertThat(leased.get()).isGreaterThan(QUOTA / 2);
		processes.forEach((process) -> assertThat(process.tryAcquire(REQUEST).allowed()).isFalse());
		processes.forEach(LeasedRateLimiter::close);
		assertThat(remaining()).isZero();
	}

	/** A process of its own, which dies as by kill -9 while it holds a part. */
	@Test
	void killedProcessNeverAdmitsMoreThanItTook() throws Exception {
		Process killed = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				System.getProperty("java.class.path"), KilledProcess.class.getName(), TestRedis.uri().toString(),
				this.keyPrefix)
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		long admitted = 0;
		try (var lines = killed.inputReader()) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				admitted = line.matches("\\d+") ? Long.parseLong(line) : admitted;
				if (admitted == 20_000) {
					killed.destroyForcibly().waitFor();
				}
			}
		}
		catch (IOException ex) {
			// The pipe is gone with the process.
		}
		finally {
			killed.destroyForcibly();
		}
		assertThat(admitted).isGreaterThanOrEqualTo(20_000);
		LeasedRateLimiter other = new LeasedRateLimiter(this.redis);
		long rest = 0;
		while (other.tryAcquire(REQUEST).allowed()) {
			rest++;
		}
		other.close();
		assertThat(admitted + rest).isLessThanOrEqualTo(QUOTA).isGreaterThan(QUOTA - 25_000);
	}

	private long remaining() {
		return this.redis.peek(REQUEST).statuses().get(0).remaining();
	}

	/** Uses the quota, and prints how much it has used. */
	static final class KilledProcess {

		private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

		private KilledProcess() {
		}

		public static void main(String... args) {
			RateLimiter redis = RedisRateLimiter.of(
					RedisConnections.client(JedisClients.create(URI.create(args[0]))).timeBudget(TEN_SECONDS).build(),
					args[1]);
			LeasedRateLimiter limiter = new LeasedRateLimiter(redis);
			for (int used = 1; limiter.tryAcquire(REQUEST).allowed(); used++) {
				System.out.println(used);
				System.out.flush();
			}
		}

	}

}
