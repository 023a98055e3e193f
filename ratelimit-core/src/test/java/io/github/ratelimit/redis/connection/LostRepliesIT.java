package io.github.ratelimit.redis.connection;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindow;
import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.redis.script.Operation;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.redis.script.Scope;
import io.github.ratelimit.redis.script.ScriptCall;
import io.github.ratelimit.redis.script.Scripts;
import io.github.ratelimit.redis.script.template.Composer;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections that break while batches of decisions are under way: each decision is made
 * at most once.
 */
@Timeout(1800)
class LostRepliesIT {

	private static final Logger logger = LoggerFactory.getLogger(LostRepliesIT.class);

	/** How many calls have to lose their reply. */
	private static final int LOST = Integer.getInteger("ratelimit.test.lost-replies", 300);

	private static final int THREADS = 64;

	/** Of each thread, in a round. */
	private static final int CALLS = 20;

	private static final int BATCHES_BETWEEN_FAULTS = 4;

	/** With a script each, so that batches have several commands. */
	private static final List<Policy> POLICIES = List.of(
			Policy.of("one", new FixedWindow(), new Limit(1000, Limit.MAX_WINDOW)),
			Policy.of("two", new FixedWindow(), new Limit(1000, Limit.MAX_WINDOW),
					new Limit(2000, Limit.MAX_WINDOW.minusDays(1))),
			Policy.of("three", new SlidingWindow(), new Limit(1000, Limit.MAX_WINDOW)));

	private final OwnRedis redis = new OwnRedis();

	private final FaultyProxy proxy = new FaultyProxy(this.redis.uri());

	private final Faults faults = new Faults();

	private final Server server = Connecting.to(this.proxy.uri().getPort(), Increment.LONG, this.faults);

	private final Scripts scripts = new Scripts(new RedisKeys("test"), this.server, null, Composer::compose);

	private final Server witness = Connecting.to(this.redis.port(), Increment.LONG, Connecting.NOBODY);

	private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

	/** What a caller was told: a decision, or why there is none. */
	private record Told(RateLimitRequest request, Object outcome) {

		boolean isDecision() {
			return this.outcome instanceof Decision;
		}

		boolean isNotSent() {
			return this.outcome instanceof CallException failure
					&& EnumSet.of(Reason.TOO_LATE, Reason.QUEUE_FULL, Reason.OUTAGE).contains(failure.reason());
		}

		boolean isLost() {
			return !isDecision() && !isNotSent();
		}

		long cost() {
			return this.request.charges().get(0).cost();
		}

	}

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
		this.server.close();
		this.witness.close();
		this.proxy.close();
		this.redis.close();
	}

	@Test
	void noDecisionIsMadeTwiceAndEveryOutcomeIsTrue() {
		long decided = 0;
		long notSent = 0;
		long lost = 0;
		long counted = 0;
		for (int round = 0; lost < LOST; round++) {
			int number = round;
			List<Told> all = inParallel((thread) -> acquire(number, thread));
			List<Long> used = inParallel((thread) -> used(all.subList(thread * CALLS, (thread + 1) * CALLS)));
			for (int i = 0; i < all.size(); i++) {
				assertTrue(all.get(i), used.get(i));
				counted += (all.get(i).isLost() && used.get(i) > 0) ? 1 : 0;
			}
			decided += all.stream().filter(Told::isDecision).count();
			notSent += all.stream().filter(Told::isNotSent).count();
			lost += all.stream().filter(Told::isLost).count();
			this.redis.jedis().flushAll();
		}
		logger.info(
				"{} calls have lost their reply, {} of them were counted; {} were decided, {} were not sent."
						+ " There were {} faults, and batches had {} calls on average",
				lost, counted, decided, notSent, this.faults.number(), this.faults.size());
		assertThat(decided).isPositive();
		assertThat(counted).isPositive();
		assertThat(this.faults.size()).isGreaterThan(2);
	}

	private static void assertTrue(Told told, long used) {
		if (told.outcome() instanceof Decision decision) {
			assertThat(decision.allowed()).isTrue();
			assertThat(used(decision)).as("decided").isEqualTo(told.cost());
			assertThat(used).as("decided").isEqualTo(told.cost());
		}
		else {
			assertThat(used).as("%s", told.outcome()).isIn(0L, told.isNotSent() ? 0L : told.cost());
		}
	}

	/** Returns how much of all limits is used, which is the same. */
	private static long used(Decision decision) {
		List<Long> used = decision.statuses()
			.stream()
			.map((status) -> status.limit().quota() - status.remaining())
			.distinct()
			.toList();
		assertThat(used).hasSize(1);
		return used.get(0);
	}

	/** Calls for one identifier each. Neighbours in a batch have different costs. */
	private List<Told> acquire(int round, int thread) {
		List<Told> told = new ArrayList<>();
		for (int i = 0; i < CALLS; i++) {
			TestCluster.await("Calls are sent", () -> !this.server.isUnavailable());
			Charge charge = Charge
				.of(POLICIES.get(i % POLICIES.size()), Identifier.user(round + "-" + thread + "-" + i))
				.withCost(1 + thread);
			RateLimitRequest request = RateLimitRequest.of(charge);
			try {
				told.add(new Told(request, ask(this.server, Operation.ACQUIRE, request)));
			}
			catch (JedisException ex) {
				told.add(new Told(request, ex));
			}
		}
		return told;
	}

	private List<Long> used(List<Told> told) {
		return told.stream().map((one) -> used(ask(this.witness, Operation.PEEK, one.request()))).toList();
	}

	private Decision ask(Server server, Operation operation, RateLimitRequest request) {
		ScriptCall call = this.scripts.call(operation, Scope.ALL, request,
				System.nanoTime() + Increment.LONG.toNanos());
		server.submit(call);
		return call.answer().decision();
	}

	/** Returns what all threads have returned, in the order of the threads. */
	private <T> List<T> inParallel(IntFunction<List<T>> task) {
		List<CompletableFuture<List<T>>> results = IntStream.range(0, THREADS)
			.mapToObj((thread) -> CompletableFuture.supplyAsync(() -> task.apply(thread), this.threads))
			.toList();
		return results.stream().flatMap((result) -> result.join().stream()).toList();
	}

	/** Breaks a connection after every few batches. */
	private final class Faults extends Events {

		private final AtomicLong batches = new AtomicLong();

		private final AtomicLong calls = new AtomicLong();

		@Override
		public void batch(int calls, long nanos) {
			this.calls.addAndGet(calls);
			if (this.batches.incrementAndGet() % BATCHES_BETWEEN_FAULTS == 0) {
				switch ((int) (number() % 8)) {
					case 0 -> LostRepliesIT.this.proxy.breakConnections();
					case 1 -> {
						// The reply may be that the script is not known.
						LostRepliesIT.this.redis.jedis().scriptFlush();
						LostRepliesIT.this.proxy.lose(1);
					}
					case 2, 4, 6 -> LostRepliesIT.this.proxy.cut(1);
					default -> LostRepliesIT.this.proxy.lose(1);
				}
			}
		}

		long number() {
			return this.batches.get() / BATCHES_BETWEEN_FAULTS;
		}

		long size() {
			return this.calls.get() / this.batches.get();
		}

	}

}
