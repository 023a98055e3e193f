package io.github.ratelimit.lease;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.ratelimit.test.TestCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class BackgroundTimerTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private final CompletableFuture<Void> released = new CompletableFuture<>();

	/** Otherwise a thread would remain, and call the store. */
	@Test
	void taskInProgressSchedulesNothingWhileTimerIsPaused() throws InterruptedException {
		BackgroundTimer timer = new BackgroundTimer("test", LONG);
		AtomicBoolean followed = new AtomicBoolean();
		hold(timer, () -> followed.set(timer.schedule(() -> followed.set(true), 0)));
		Thread pausing = pause(timer);
		this.released.complete(null);
		pausing.join();
		runOne(timer);
		timer.stop();
		assertThat(followed).isFalse();
	}

	@Test
	void taskOfAPausedTimerSchedulesNothingAfterwards() throws InterruptedException {
		BackgroundTimer timer = new BackgroundTimer("test", Duration.ZERO);
		AtomicBoolean followed = new AtomicBoolean();
		Thread thread = hold(timer, () -> timer.schedule(() -> followed.set(true), 0));
		timer.pause();
		this.released.complete(null);
		assertThat(thread).matches(Thread::isDaemon).hasFieldOrPropertyWithValue("name", "test");
		thread.join();
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
		this.released.complete(null);
		pausing.join();
		timer.stop();
	}

	@Test
	void taskIsRefusedWhileThereCanBeNoThread() {
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

	/** Runs a task until it is released, and returns its thread. */
	private Thread hold(BackgroundTimer timer, Runnable last) {
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		timer.schedule(() -> {
			thread.complete(Thread.currentThread());
			this.released.join();
			last.run();
		}, 0);
		return thread.join();
	}

	/** Returns a thread that waits for the task in progress. */
	private static Thread pause(BackgroundTimer timer) {
		Thread pausing = new Thread(timer::pause);
		pausing.start();
		TestCluster.await("The other thread waits", () -> pausing.getState() == Thread.State.TIMED_WAITING);
		return pausing;
	}

	private static void runOne(BackgroundTimer timer) {
		CompletableFuture<Void> run = new CompletableFuture<>();
		timer.schedule(() -> run.complete(null), 0);
		assertThat(run).succeedsWithin(LONG);
	}

}
