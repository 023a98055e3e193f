package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import org.springframework.boot.thread.Threading;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that are served by virtual threads, where the Java runtime has them.
 */
class VirtualThreadsIT {

	private static final int QUOTA = 50;

	private static final int REQUESTS = 200;

	private static final int CLIENTS = 20;

	/** Virtual threads are never suspended while they hold a monitor, before Java 24. */
	private static final int FIRST_VERSION = 21;

	@Test
	void quotaIsAdmittedExactlyToManyAtOnce() {
		try (TestApplication application = TestApplication.start(Application.class,
				"spring.threads.virtual.enabled=true", "ratelimit.policies.api.paths=/api",
				"ratelimit.policies.api.limits=50/d")) {
			assertThat(Threading.VIRTUAL.isActive(application.bean(Environment.class)))
				.isEqualTo(Runtime.version().feature() >= FIRST_VERSION);
			ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
			try {
				List<CompletableFuture<Integer>> statuses = IntStream.range(0, REQUESTS)
					.mapToObj((i) -> CompletableFuture.supplyAsync(() -> application.get("/api").statusCode(), clients))
					.toList();
				assertThat(statuses.stream().map(CompletableFuture::join).filter((status) -> status == 200))
					.hasSize(QUOTA);
				assertThat(statuses.stream().map(CompletableFuture::join).filter((status) -> status == 429))
					.hasSize(REQUESTS - QUOTA);
			}
			finally {
				clients.shutdownNow();
			}
		}
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/api")
		String get() {
			return Thread.currentThread().toString();
		}

	}

}
