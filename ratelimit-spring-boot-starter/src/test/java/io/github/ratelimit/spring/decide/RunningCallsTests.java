package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.spring.policy.IdentifiedPolicy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RunningCalls}, by a clock of their own.
 */
class RunningCallsTests {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final Duration LONGEST = Duration.ofMinutes(10);

	private final List<Long> renewed = new ArrayList<>();

	private final List<Long> ended = new ArrayList<>();

	/** What waits for a sixth of the lease. */
	private final Deque<Runnable> later = new ArrayDeque<>();

	private Executor timer = this.later::add;

	private Runnable meanwhile = () -> {
	};

	private long nanos;

	private final RunningCalls calls = new RunningCalls(LEASE, LONGEST, this::renew,
			(call) -> this.ended.add(call.call()), () -> this.nanos, (task) -> this.timer.execute(task));

	private final PolicyCharge first = call(1);

	private final PolicyCharge second = call(2);

	private void renew(PolicyCharge call) {
		this.renewed.add(call.call());
		this.meanwhile.run();
	}

	/** Lets sixths of the lease pass. */
	private void pass(int parts) {
		for (int i = 0; i < parts; i++) {
			this.nanos += LEASE.toNanos() / 6;
			assertThat(this.later).hasSize(1);
			this.later.remove().run();
		}
	}

	private static PolicyCharge call(long number) {
		IdentifiedPolicy policy = new IdentifiedPolicy(ConcurrentLimit.alone("api", 5, LEASE), List.of("user"));
		return new PolicyCharge(policy, Charge.of(policy.policy(), Identifier.user("alice"))).ofCall(number)
			.orElseThrow();
	}

	@Test
	void callIsRenewedAfterEachThirdOfItsLease() {
		this.calls.add(this.first);
		this.calls.add(this.second);
		this.calls.remove(this.first);
		pass(1);
		assertThat(this.renewed).isEmpty();
		pass(1);
		assertThat(this.renewed).containsExactly(2L);
		pass(2);
		assertThat(this.renewed).containsExactly(2L, 2L);
		this.calls.remove(this.second);
		pass(1);
		assertThat(this.later).isEmpty();
		this.calls.add(this.first);
		pass(2);
		assertThat(this.renewed).containsExactly(2L, 2L, 1L);
	}

	@Test
	void callThatEndsWhileItIsRenewedIsEndedAgain() {
		this.calls.add(this.first);
		this.meanwhile = () -> this.calls.remove(this.first);
		pass(2);
		assertThat(this.renewed).containsExactly(1L);
		assertThat(this.ended).containsExactly(1L);
		assertThat(this.later).isEmpty();
	}

	@Test
	void failureIsTriedAgain() {
		this.calls.add(this.first);
		this.meanwhile = () -> {
			throw new IllegalStateException("expected by this test");
		};
		pass(2);
		this.meanwhile = () -> {
		};
		pass(1);
		assertThat(this.renewed).containsExactly(1L, 1L);
		pass(1);
		assertThat(this.renewed).hasSize(2);
	}

	@Test
	void callsAreRenewedAfterThereWereNoThreads() {
		this.timer = (task) -> {
			throw new OutOfMemoryError("expected by this test");
		};
		this.calls.add(this.first);
		this.timer = this.later::add;
		this.calls.add(this.second);
		pass(2);
		assertThat(this.renewed).containsExactly(1L, 2L);
	}

	@Test
	void nothingIsRenewedWhileItIsPaused() {
		this.calls.pause();
		this.calls.resume();
		assertThat(this.later).isEmpty();
		this.calls.add(this.first);
		pass(1);
		this.calls.pause();
		pass(1);
		this.calls.add(this.second);
		assertThat(this.later).isEmpty();
		assertThat(this.renewed).isEmpty();
		this.calls.resume();
		pass(1);
		assertThat(this.renewed).containsExactly(1L);
		pass(1);
		assertThat(this.renewed).containsExactly(1L, 2L);
	}

	@Test
	void renewalInProgressRenewsNoMoreOnceItIsPaused() {
		this.calls.add(this.first);
		this.calls.add(this.second);
		this.meanwhile = this.calls::pause;
		pass(2);
		assertThat(this.renewed).hasSize(1);
		assertThat(this.later).isEmpty();
	}

	/** Servlet containers sometimes drop a request without an event for its end. */
	@Test
	void longCallIsRenewedWhileASignShowsIt() {
		AtomicBoolean runs = new AtomicBoolean(true);
		this.calls.add(this.first);
		this.calls.add(this.second);
		this.calls.watch(this.first, runs::get);
		pass(6 * 60);
		assertThat(this.renewed.stream().filter((number) -> number == 1)).hasSize(3 * 60);
		assertThat(this.renewed.stream().filter((number) -> number == 2)).hasSize(3 * 10 - 1);
		this.renewed.clear();
		runs.set(false);
		pass(6 * 10);
		assertThat(this.renewed).hasSize(3 * 10 - 1);
		assertThat(this.later).isEmpty();
		assertThat(this.ended).isEmpty();
	}

	@Test
	void signOfACallThatHasEndedIsNotAsked() {
		this.calls.add(this.first);
		this.calls.remove(this.first);
		this.calls.watch(this.first, () -> true);
		pass(1);
		assertThat(this.later).isEmpty();
	}

	@Test
	void callsAreRenewedOnADaemonThread() throws InterruptedException {
		CountDownLatch twice = new CountDownLatch(2);
		List<Thread> threads = new ArrayList<>();
		RunningCalls calls = new RunningCalls(Duration.ofSeconds(1), LONGEST, (call) -> {
			threads.add(Thread.currentThread());
			twice.countDown();
		}, (call) -> {
		});
		calls.add(this.first);
		assertThat(twice.await(30, TimeUnit.SECONDS)).isTrue();
		calls.remove(this.first);
		assertThat(threads).allSatisfy((thread) -> {
			assertThat(thread.isDaemon()).isTrue();
			assertThat(thread.getName()).isEqualTo("ratelimit-renewal");
		});
	}

}
