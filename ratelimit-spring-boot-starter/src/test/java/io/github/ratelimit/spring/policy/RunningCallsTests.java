package io.github.ratelimit.spring.policy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.spring.IdentifiedPolicy;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RunningCalls}, by a clock of their own.
 */
class RunningCallsTests {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private final List<Long> renewed = new ArrayList<>();

	private final List<Long> ended = new ArrayList<>();

	/** What waits for a sixth of the lease. */
	private final Deque<Runnable> later = new ArrayDeque<>();

	private Runnable meanwhile = () -> {
	};

	private long nanos;

	private final RunningCalls calls = new RunningCalls(LEASE, this::renew, (call) -> this.ended.add(call.call()),
			() -> this.nanos, this.later::add);

	private void renew(PolicyCharge call) {
		this.renewed.add(call.call());
		this.meanwhile.run();
	}

	/** Lets a sixth of the lease pass. */
	private void pass() {
		this.nanos += LEASE.toNanos() / 6;
		assertThat(this.later).hasSize(1);
		this.later.remove().run();
	}

	private static PolicyCharge call(long number) {
		IdentifiedPolicy policy = new IdentifiedPolicy(CallsAtOnce.alone("api", 5, LEASE), List.of("user"));
		Policy calls = policy.policy();
		return new PolicyCharge(policy, Charge.of(calls, Identifier.user("alice"))).ofCall(number).orElseThrow();
	}

	@Test
	void callIsRenewedAfterAThirdOfItsLease() {
		PolicyCharge call = call(1);
		this.calls.add(call);
		pass();
		assertThat(this.renewed).isEmpty();
		pass();
		assertThat(this.renewed).containsExactly(1L);
		pass();
		pass();
		assertThat(this.renewed).containsExactly(1L, 1L);
		assertThat(call.call()).isOne();
	}

	@Test
	void callThatHasEndedIsNotRenewed() {
		PolicyCharge first = call(1);
		PolicyCharge second = call(2);
		this.calls.add(first);
		this.calls.add(second);
		this.calls.remove(first);
		pass();
		pass();
		assertThat(this.renewed).containsExactly(2L);
		this.calls.remove(second);
		pass();
		assertThat(this.later).isEmpty();
		this.calls.add(first);
		pass();
		pass();
		assertThat(this.renewed).containsExactly(2L, 1L);
	}

	@Test
	void callThatEndsWhileItIsRenewedIsEndedAgain() {
		PolicyCharge call = call(1);
		this.calls.add(call);
		this.meanwhile = () -> this.calls.remove(call);
		pass();
		pass();
		assertThat(this.renewed).containsExactly(1L);
		assertThat(this.ended).containsExactly(1L);
		assertThat(this.later).isEmpty();
	}

	@Test
	void failureIsTriedAgain() {
		PolicyCharge call = call(1);
		this.calls.add(call);
		this.meanwhile = () -> {
			throw new IllegalStateException("expected by this test");
		};
		pass();
		pass();
		this.meanwhile = () -> {
		};
		pass();
		assertThat(this.renewed).containsExactly(1L, 1L);
		pass();
		assertThat(this.renewed).hasSize(2);
		this.calls.remove(call);
	}

	@Test
	void nothingIsRenewedOnceItIsClosed() {
		PolicyCharge call = call(1);
		this.calls.add(call);
		this.calls.close();
		pass();
		this.calls.add(call);
		assertThat(this.later).isEmpty();
		assertThat(this.renewed).isEmpty();
	}

	/** As servlet containers do, which sometimes drop a request. */
	@Test
	void callThatNothingRefersToIsNotRenewed() {
		this.calls.add(call(1));
		await().until(() -> {
			System.gc();
			pass();
			return this.later.isEmpty();
		});
	}

	@Test
	void callsAreRenewedOnADaemonThread() throws InterruptedException {
		CountDownLatch twice = new CountDownLatch(2);
		List<Thread> threads = new ArrayList<>();
		RunningCalls calls = new RunningCalls(Duration.ofSeconds(1), (call) -> {
			threads.add(Thread.currentThread());
			twice.countDown();
		}, (call) -> {
		});
		PolicyCharge call = call(1);
		calls.add(call);
		assertThat(twice.await(30, TimeUnit.SECONDS)).isTrue();
		calls.remove(call);
		assertThat(threads).allSatisfy((thread) -> {
			assertThat(thread.isDaemon()).isTrue();
			assertThat(thread.getName()).isEqualTo("ratelimit-renewal");
		});
	}

}
