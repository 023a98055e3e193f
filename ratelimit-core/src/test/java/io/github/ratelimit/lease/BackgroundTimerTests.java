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
class BackgroundTimerTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final CountDownLatch begun = new CountDownLatch(1);

	private final CountDownLatch released = new CountDownLatch(1);

	/** Otherwise a thread would remain, and call the store. */
	@Test
	void taskInProgressSchedulesNothingWhileTimerIsPaused() throws InterruptedException {
		BackgroundTimer timer = new BackgroundTimer("test", LONG);
		AtomicBoolean followed = new AtomicBoolean();
		hold(timer, () -> followed.set(timer.schedule(() -> followed.set(true), 0)));
		Thread pausing = pause(timer);
		this.released.countDown();
		pausing.join();
		runOne(timer);
		timer.stop();
		assertThat(followed).isFalse();
	}

	@Test
	void taskOfAPausedTimerSchedulesNothingAfterwards() throws Exception {
		BackgroundTimer timer = new BackgroundTimer("test", Duration.ZERO);
		AtomicBoolean followed = new AtomicBoolean();
		CompletableFuture<Thread> thread = hold(timer, () -> timer.schedule(() -> followed.set(true), 0));
		timer.pause();
		this.released.countDown();
		assertThat(thread.get()).matches(Thread::isDaemon).hasFieldOrPropertyWithValue("name", "test");
		thread.get().join();
		runOne(timer);
		timer.stop();
		assertThat(followed).isFalse();
	}

	/** What a request has to give back would otherwise be lost. */
	@Test
	void tasksOfOthersRunWhileTimerIsPaused() throws InterruptedException {
		BackgroundTimer timer = new BackgroundTimer("test", LONG);
		hold(timer, () -> {
		});
		Thread pausing = pause(timer);
		runOne(timer);
		assertThat(pausing.isAlive()).isTrue();
		this.released.countDown();
		pausing.join();
		timer.stop();
	}

	@Test
	void taskIsRefusedWhileThereCanBeNoThread() throws InterruptedException {
		AtomicBoolean full = new AtomicBoolean(true);
		AtomicBoolean run = new AtomicBoolean();
		BackgroundTimer timer = new BackgroundTimer("test", LONG) {

			@Override
			Thread newThread(Runnable task) {
				if (full.get()) {
					throw new OutOfMemoryError("expected by this test");
				}
				return super.newThread(task);
			}

		};
		assertThat(timer.schedule(() -> run.set(true), 0)).isFalse();
		full.set(false);
		runOne(timer);
		timer.stop();
		assertThat(run).isFalse();
	}

	/** Runs a task until it is released. */
	private CompletableFuture<Thread> hold(BackgroundTimer timer, Runnable last) throws InterruptedException {
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
	private static Thread pause(BackgroundTimer timer) {
		Thread pausing = new Thread(timer::pause);
		pausing.start();
		TestCluster.await("The other thread waits", () -> pausing.getState() == Thread.State.TIMED_WAITING);
		return pausing;
	}

	private static void runOne(BackgroundTimer timer) throws InterruptedException {
		CountDownLatch run = new CountDownLatch(1);
		timer.schedule(run::countDown, 0);
		assertThat(run.await(30, TimeUnit.SECONDS)).isTrue();
	}

}
