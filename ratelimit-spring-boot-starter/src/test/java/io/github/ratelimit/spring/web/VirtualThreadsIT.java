package io.github.ratelimit.spring.web;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.boot.thread.Threading;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that are served by virtual threads, where the Java runtime has them.
 */
@StartApplication("""
		spring.threads.virtual.enabled: true
		ratelimit.policies.api: { paths: /api, limits: 50/d }
		""")
class VirtualThreadsIT {

	private static final int QUOTA = 50;

	private static final int REQUESTS = 200;

	private static final int CLIENTS = 20;

	/** Virtual threads are never suspended while they hold a monitor, before Java 24. */
	private static final int FIRST_VERSION = 21;

	@Parameter
	TestApplication application;

	@Test
	void quotaIsAdmittedExactlyToManyAtOnce() {
		assertThat(Threading.VIRTUAL.isActive(this.application.bean(Environment.class)))
			.isEqualTo(Runtime.version().feature() >= FIRST_VERSION);
		ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
		try {
			List<Integer> statuses = IntStream.range(0, REQUESTS)
				.mapToObj(
						(i) -> CompletableFuture.supplyAsync(() -> this.application.get("/api").statusCode(), clients))
				.toList()
				.stream()
				.map(CompletableFuture::join)
				.toList();
			assertThat(statuses).filteredOn((status) -> status == 200).hasSize(QUOTA);
			assertThat(statuses).filteredOn((status) -> status == 429).hasSize(REQUESTS - QUOTA);
		}
		finally {
			clients.shutdownNow();
		}
	}

}
