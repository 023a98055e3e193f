package io.github.ratelimit.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.SlidingLog;
import io.github.ratelimit.algorithm.TokenBucket;

/**
 * Decides at full speed for a million identifiers with the complete rate limiter, and
 * prints the resources used every ten seconds:
 *
 * <pre>
 * mvn -q compile -P soak -pl ratelimit-benchmarks -am -Dminutes=10
 * </pre>
 *
 * It fails if a decision fails, or if a resource grows from the second third of the time
 * to the last.
 */
public final class Soak {

	private static final int IDENTIFIERS = 1_000_000;

	private static final int THREADS = 8;

	private static final Duration STEP = Duration.ofSeconds(10);

	private final MeasuredRedis redis;

	private final RateLimiter limiter;

	/** Their states live for a minute, so that as many expire as are created. */
	private final List<Policy> policies = List.of(
			Policy.of("log", new SlidingLog(), Limit.parse("10/10s"), Limit.parse("20/m")),
			Policy.of("bucket", new TokenBucket(), Limit.parse("5/m")));

	private final LongAdder decisions = new LongAdder();

	private final LongAdder failures = new LongAdder();

	private volatile boolean over;

	private Soak(MeasuredRedis redis, RateLimiter limiter) {
		this.redis = redis;
		this.limiter = limiter;
	}

	/**
	 * Runs the soak test and prints samples.
	 * @param arguments number of minutes, from 4 (in less time Redis does not see every
	 * identifier) to 1440
	 * @throws InterruptedException if the thread is interrupted
	 */
	public static void main(String[] arguments) throws InterruptedException {
		int minutes = minutes(arguments);
		try (MeasuredRedis redis = MeasuredRedis.start();
				OurLimiters limiters = OurLimiters.connect(redis.uri(), Duration.ofSeconds(1))) {
			new Soak(redis, limiters.scripts()).run(Duration.ofMinutes(minutes));
		}
	}

	private static int minutes(String[] arguments) {
		String given = (arguments.length == 1) ? arguments[0] : "";
		if (!given.matches("[0-9]{1,4}") || Integer.parseInt(given) < 4 || Integer.parseInt(given) > 1440) {
			throw new IllegalArgumentException("Invalid minutes (%s): must be from 4 to 1440.".formatted(given));
		}
		return Integer.parseInt(given);
	}

	private void run(Duration time) throws InterruptedException {
		System.out.printf("%s, %d CPU cores, Java %s, %d threads, %,d identifiers%n%n", this.redis.version(),
				Runtime.getRuntime().availableProcessors(), Runtime.version().feature(), THREADS, IDENTIFIERS);
		CountDownLatch ended = new CountDownLatch(THREADS);
		for (int i = 0; i < THREADS; i++) {
			new Thread(() -> decide(ended), "soak-" + i).start();
		}
		List<SoakSample> samples = new ArrayList<>();
		System.out.println(SoakSample.HEAD);
		for (long step = 1; step <= time.dividedBy(STEP); step++) {
			// Used as a pause: nothing counts it down before the end.
			ended.await(STEP.toMillis(), TimeUnit.MILLISECONDS);
			samples.add(SoakSample.take(STEP.multipliedBy(step), this.redis, this.decisions.sum()));
			SoakSample last = samples.get(samples.size() - 1);
			System.out.println(last.row((samples.size() > 1) ? samples.get(samples.size() - 2) : SoakSample.NONE));
		}
		this.over = true;
		ended.await();
		System.out.printf("%n%,d decisions, %d failed%n", this.decisions.sum(), this.failures.sum());
		SoakSample.check(samples);
		if (this.failures.sum() > 0) {
			throw new IllegalStateException("Decisions failed: " + this.failures.sum());
		}
	}

	private void decide(CountDownLatch ended) {
		while (!this.over) {
			Identifier identifier = Identifier.user("user-" + ThreadLocalRandom.current().nextInt(IDENTIFIERS));
			Policy policy = this.policies.get(ThreadLocalRandom.current().nextInt(this.policies.size()));
			try {
				this.limiter.tryAcquire(RateLimitRequest.of(policy, identifier));
			}
			catch (StoreException ex) {
				this.failures.increment();
			}
			this.decisions.increment();
		}
		ended.countDown();
	}

}
