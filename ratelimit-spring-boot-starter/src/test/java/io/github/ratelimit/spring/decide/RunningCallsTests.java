package io.github.ratelimit.spring.decide;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.Charge;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Policy;
import io.github.ratelimit.lease.BackgroundTimer;
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

	private Runnable meanwhile = () -> {
	};

	private boolean threads = true;

	private long nanos;

	private final BackgroundTimer timer = new BackgroundTimer("test", Duration.ZERO) {

		@Override
		public boolean schedule(Runnable task, long nanos) {
			return RunningCallsTests.this.threads && RunningCallsTests.this.later.add(task);
		}

	};

	private final RunningCalls calls = new RunningCalls(LEASE, LONGEST, this.timer, () -> this.nanos, this::renew,
			(call) -> this.ended.add(call.call()));

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
		Policy calls = policy.policy();
		return new PolicyCharge(policy, Charge.of(calls, Identifier.user("alice"))).ofCall(number).orElseThrow();
	}

	@Test
	void callIsRenewedAfterAThirdOfItsLease() {
		PolicyCharge call = call(1);
		this.calls.add(call);
		pass(1);
		assertThat(this.renewed).isEmpty();
		pass(1);
		assertThat(this.renewed).containsExactly(1L);
		pass(2);
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
		this.calls.watch(first, () -> {
			throw new IllegalStateException("expected by this test");
		});
		pass(2);
		assertThat(this.renewed).containsExactly(2L);
		this.calls.remove(second);
		pass(1);
		assertThat(this.later).isEmpty();
		this.calls.add(first);
		pass(2);
		assertThat(this.renewed).containsExactly(2L, 1L);
	}

	@Test
	void callThatEndsWhileItIsRenewedIsEndedAgain() {
		PolicyCharge call = call(1);
		this.calls.add(call);
		this.meanwhile = () -> this.calls.remove(call);
		pass(2);
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
		pass(2);
		this.meanwhile = () -> {
		};
		pass(1);
		assertThat(this.renewed).containsExactly(1L, 1L);
		pass(1);
		assertThat(this.renewed).hasSize(2);
		this.calls.remove(call);
	}

	@Test
	void callsAreRenewedAfterThereCouldBeNoThread() {
		this.threads = false;
		this.calls.add(call(1));
		this.nanos += LEASE.toNanos();
		this.threads = true;
		this.calls.add(call(2));
		pass(1);
		assertThat(this.renewed).containsExactly(1L);
	}

	@Test
	void nothingIsRenewedWhileItIsPaused() {
		this.calls.pause();
		this.calls.resume();
		assertThat(this.later).isEmpty();
		this.calls.add(call(1));
		pass(1);
		this.calls.pause();
		this.later.clear();
		this.calls.add(call(2));
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
		this.calls.add(call(1));
		this.calls.add(call(2));
		this.meanwhile = this.calls::pause;
		pass(2);
		assertThat(this.renewed).hasSize(1);
		assertThat(this.later).isEmpty();
	}

	/** As servlet containers do, which sometimes drop a request. */
	@Test
	void callWithoutSoundSignIsNotRenewedForLonger() {
		PolicyCharge broken = call(2);
		this.calls.add(call(1));
		this.calls.add(broken);
		this.calls.watch(broken, () -> {
			throw new UnsupportedOperationException("expected by this test");
		});
		pass(6 * 10);
		assertThat(this.renewed).hasSize(2 * (3 * 10 - 1));
		assertThat(this.later).isEmpty();
		assertThat(this.ended).isEmpty();
	}

	@Test
	void callIsRenewedWhileASignShowsThatItRuns() {
		AtomicBoolean runs = new AtomicBoolean(true);
		PolicyCharge call = call(1);
		this.calls.add(call);
		this.calls.add(call(2));
		this.calls.watch(call, runs::get);
		pass(6 * 60);
		assertThat(this.renewed.stream().filter((number) -> number == 1)).hasSize(3 * 60);
		assertThat(this.renewed.stream().filter((number) -> number == 2)).hasSize(3 * 10 - 1);
		this.renewed.clear();
		runs.set(false);
		pass(6 * 10);
		assertThat(this.renewed).hasSize(3 * 10 - 1);
		assertThat(this.later).isEmpty();
	}

}
