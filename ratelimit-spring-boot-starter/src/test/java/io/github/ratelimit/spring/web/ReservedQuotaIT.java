package io.github.ratelimit.spring.web;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

import io.github.ratelimit.denial.DenialCache;
import io.github.ratelimit.spring.OpenApplication;
import io.github.ratelimit.test.TestRedis;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests that are denied for what others hold for a time, in an application that
 * remembers denials.
 */
class ReservedQuotaIT {

	private static final Semaphore arrived = new Semaphore(0);

	private static final Semaphore mayGoOn = new Semaphore(0);

	@ParameterizedTest
	@EnumSource
	void denialIsNotRememberedLongerThanItTells(Container container) {
		String prefix = TestRedis.newKeyPrefix();
		try (TestApplication application = start(container, prefix);
				TestApplication otherInstance = start(container, prefix)) {
			CompletableFuture<HttpResponse<String>> first = CompletableFuture
				.supplyAsync(() -> application.get("/held/200"));
			arrived.acquireUninterruptibly();
			for (int i = 0; i < 3; i++) {
				HttpResponse<String> denied = application.get("/held/401");
				assertThat(denied.statusCode()).isEqualTo(429);
				assertThat(denied.headers().allValues("Retry-After")).containsExactly("1");
				assertThat(otherInstance.get("/held/401").statusCode()).isEqualTo(429);
			}
			mayGoOn.release();
			assertThat(first.join().statusCode()).isEqualTo(200);
			await().atMost(Duration.ofSeconds(30))
				.until(() -> otherInstance.get("/held/401").statusCode(), (status) -> status == 401);
			assertThat(application.get("/held/401").headers().firstValueAsLong("Retry-After").orElseThrow())
				.isGreaterThan(800);
		}
	}

	private TestApplication start(Container container, String prefix) {
		TestApplication application = TestApplication.startWithOwnLimiter(container, Application.class,
				"ratelimit.redis.url=" + TestRedis.uri(), "ratelimit.key-prefix=" + prefix,
				"ratelimit.denial-cache.max-age=1h", "ratelimit.policies.held.paths=/held/**",
				"ratelimit.policies.held.limits=1/15m", "ratelimit.policies.held.count-when=status in [401]");
		assertThat(application.bean(DenialCache.class)).isNotNull();
		return application;
	}

	@OpenApplication
	@RestController
	static class Application {

		@GetMapping("/held/{status}")
		void hold(@PathVariable int status, HttpServletResponse response) throws InterruptedException {
			if (status == 200) {
				arrived.release();
				mayGoOn.acquire();
			}
			response.setStatus(status);
		}

	}

}
