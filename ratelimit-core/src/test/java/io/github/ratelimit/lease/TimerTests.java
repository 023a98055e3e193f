package io.github.ratelimit.lease;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TimerTests {

	/** What a request has to give back would otherwise be lost. */
	@Test
	void taskInProgressDelaysNoneAfterAPause() throws InterruptedException {
		Timer timer = new Timer();
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Void> released = new CompletableFuture<>();
		timer.schedule(() -> {
			begun.countDown();
			released.join();
		}, 0);
		begun.await();
		timer.pause();
		CountDownLatch run = new CountDownLatch(1);
		timer.schedule(run::countDown, 0);
		run.await();
		released.complete(null);
		timer.stop();
	}

}
