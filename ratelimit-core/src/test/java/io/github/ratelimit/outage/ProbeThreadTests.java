package io.github.ratelimit.outage;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class ProbeThreadTests {

	private final ProbeThread probes = new ProbeThread(Duration.ofMillis(10));

	@Test
	void probesRunOnADaemonOfTheirOwnThatEndsWhenTheyAreClosed() throws Exception {
		CompletableFuture<Thread> ran = new CompletableFuture<>();
		this.probes.execute(() -> ran.complete(Thread.currentThread()));
		Thread thread = ran.get();
		assertThat(thread.getName()).isEqualTo("ratelimit-probe");
		assertThat(thread.isDaemon()).isTrue();
		this.probes.close();
		thread.join();
	}

	@Test
	void thereIsNoThreadWithoutProbes() throws Exception {
		CompletableFuture<Thread> ran = new CompletableFuture<>();
		this.probes.execute(() -> ran.complete(Thread.currentThread()));
		ran.get().join();
		CompletableFuture<Thread> again = new CompletableFuture<>();
		this.probes.execute(() -> again.complete(Thread.currentThread()));
		assertThat(again.get()).isNotSameAs(ran.get());
		this.probes.close();
	}

	@Test
	void whatComesAfterTheEndIsForgotten() {
		this.probes.close();
		this.probes.execute(() -> {
			throw new IllegalStateException("too late");
		});
	}

}
