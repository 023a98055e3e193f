package io.github.ratelimit.lease;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class TimerTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final CountDownLatch begun = new CountDownLatch(1);

	private final CountDownLatch released = new CountDownLatch(1);

	/** Otherwise a thread would remain, and call the store. */
	@Test
	void taskInProgressSchedulesNothingWhileTimerIsPaused() throws InterruptedException {
		Timer timer = new Timer(LONG);
		AtomicBoolean followed = new AtomicBoolean();
		hold(timer, () -> timer.schedule(() -> followed.set(true), 0));
		Thread pausing = pause(timer);
		this.released.countDown();
		pausing.join();
		runOne(timer);
		timer.stop();
		assertThat(followed).isFalse();
	}

	@Test
	void taskOfAPausedTimerSchedulesNothingAfterwards() throws Exception {
		Timer timer = new Timer(Duration.ZERO);
		AtomicBoolean followed = new AtomicBoolean();
		CompletableFuture<Thread> thread = hold(timer, () -> timer.schedule(() -> followed.set(true), 0));
		timer.pause();
		this.released.countDown();
		thread.get().join();
		runOne(timer);
		timer.stop();
		assertThat(followed).isFalse();
	}

	/** What a request has to give back would otherwise be lost. */
	@Test
	void tasksOfOthersRunWhileTimerIsPaused() throws InterruptedException {
		Timer timer = new Timer(LONG);
		hold(timer, () -> {
		});
		Thread pausing = pause(timer);
		runOne(timer);
		assertThat(pausing.isAlive()).isTrue();
		this.released.countDown();
		pausing.join();
		timer.stop();
	}

	/** Runs a task until it is released. */
	private CompletableFuture<Thread> hold(Timer timer, Runnable last) throws InterruptedException {
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		timer.schedule(() -> {
			thread.complete(Thread.currentThread());
			this.begun.countDown();
			awaitRelease();
			last.run();
		}, 0);
		this.begun.await();
		return thread;
	}

	private void awaitRelease() {
		try {
			this.released.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Returns a thread that waits for the task in progress. */
	private static Thread pause(Timer timer) {
		Thread pausing = new Thread(timer::pause);
		pausing.start();
		TestCluster.await("The other thread waits", () -> pausing.getState() == Thread.State.TIMED_WAITING);
		return pausing;
	}

	private static void runOne(Timer timer) throws InterruptedException {
		CountDownLatch run = new CountDownLatch(1);
		timer.schedule(run::countDown, 0);
		assertThat(run.await(30, TimeUnit.SECONDS)).isTrue();
	}

}
