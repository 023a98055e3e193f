package io.github.ratelimit.spring.client;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.ratelimit.Decision;
import io.github.ratelimit.DelegatingRateLimiter;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.memory.MemoryRateLimiter;
import io.github.ratelimit.spring.OutgoingCallDeniedException;
import io.github.ratelimit.spring.OutgoingRateLimits;
import io.github.ratelimit.spring.StarterRunners;
import io.github.ratelimit.spring.actuate.RateLimitActuatorAutoConfiguration;
import io.github.ratelimit.test.ManualClock;
import io.github.ratelimit.test.ManualTime;
import io.github.ratelimit.waiting.WaitingRateLimiter.Time;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpMethod;
import org.springframework.mock.http.client.MockClientHttpRequest;
import org.springframework.mock.http.client.MockClientHttpResponse;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * How long calls to another service wait, by a clock that waiting advances.
 */
class OutgoingWaitTests {

	private final ManualClock clock = new ManualClock("2026-01-01T00:00:00Z");

	/** For how many seconds the service asks to wait; otherwise it answers 200. */
	private final Queue<Integer> asked = new ArrayDeque<>();

	/** What happens at the end of each wait, before the caller goes on. */
	private Runnable meanwhile = () -> {
	};

	private final ApplicationContextRunner runner = StarterRunners.nonWeb()
		.withConfiguration(AutoConfigurations.of(RateLimitActuatorAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(Time.class, Waiting::new)
		.withPropertyValues("ratelimit.policies.all.limits=2/10s", "ratelimit.policies.all.algorithm=fixed-window",
				"ratelimit.policies.all.identifiers=global");

	private final ApplicationContextRunner inMemory = this.runner.withBean(RateLimiter.class,
			() -> new MemoryRateLimiter(this.clock));

	/** The store does not keep the waits that the service asks for. */
	private final ApplicationContextRunner withoutBlocks = this.runner.withBean(RateLimiter.class,
			() -> new DelegatingRateLimiter(new MemoryRateLimiter(this.clock)) {
			});

	@Test
	void callsWaitForTheirPolicyAndForTheService() {
		this.inMemory.run((context) -> {
			RestClient client = client(context, 60);
			for (int i = 0; i < 5; i++) {
				assertThat(status(client)).isEqualTo(200);
			}
			assertSeconds(20);
			this.asked.add(90);
			assertThat(status(client)).isEqualTo(429);
			assertDenied(client);
			assertSeconds(20);
			assertThat(waits(context)).isEqualTo("allowed: 6 in 20 s, denied: 1 in 0 s");
			assertThat(status(client(context, 90))).isEqualTo(200);
			assertSeconds(110);
			assertThat(waits(context)).isEqualTo("allowed: 7 in 110 s, denied: 1 in 0 s");
		});
	}

	@Test
	void callsWaitAsThisInstanceAloneWasTold() {
		this.withoutBlocks.run((context) -> {
			RestClient client = client(context, 40);
			this.asked.add(30);
			assertThat(status(client)).isEqualTo(429);
			assertThat(status(client)).isEqualTo(200);
			assertSeconds(30);
			assertThat(waits(context)).isEqualTo("allowed: 4 in 30 s");
		});
	}

	/** While one waits for the policy, another is told to wait. */
	@Test
	void callWaitsForBothNoLongerThanTold() {
		this.withoutBlocks.run((context) -> {
			RestClient client = client(context, 15);
			assertThat(status(client)).isEqualTo(200);
			assertThat(status(client)).isEqualTo(200);
			this.meanwhile = () -> {
				this.asked.add(10);
				assertThat(status(client(context, 0))).isEqualTo(429);
			};
			assertDenied(client);
			assertSeconds(10);
			assertThat(waits(context)).isEqualTo("allowed: 3 in 10 s, denied: 1 in 0 s");
		});
	}

	@Test
	void interruptedCallIsNotSent() {
		this.inMemory.run((context) -> {
			RestClient client = client(context, 60);
			assertThat(status(client)).isEqualTo(200);
			assertThat(status(client)).isEqualTo(200);
			this.meanwhile = Thread.currentThread()::interrupt;
			assertThatExceptionOfType(ResourceAccessException.class).isThrownBy(() -> status(client))
				.withCauseInstanceOf(InterruptedIOException.class);
			assertThat(Thread.interrupted()).isTrue();
			assertThat(waits(context)).isEqualTo("allowed: 2 in 0 s, interrupted: 1 in 10 s");
		});
	}

	@Test
	void failureOfTheStoreEndsTheWait() {
		StoreException failure = new StoreException("gone", new IllegalStateException());
		this.runner.withBean(RateLimiter.class, () -> new DelegatingRateLimiter(new MemoryRateLimiter(this.clock)) {

			@Override
			public Decision tryAcquire(RateLimitRequest request) {
				throw failure;
			}

		}).withPropertyValues("ratelimit.policies.all.on-store-failure=deny").run((context) -> {
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> status(client(context, 60)));
			assertThat(waits(context)).isEqualTo("failed: 1 in 0 s");
		});
	}

	@Test
	void waitThatCannotBeIsRefused() {
		this.inMemory.withPropertyValues("ratelimit.policies.all.count-denied=true").run((context) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> client(context, -1))
				.withMessage("Invalid longest wait (PT-1S): must not be negative.");
			assertThatIllegalArgumentException().isThrownBy(() -> client(context, 1))
				.withMessageContaining("nobody can wait for it");
			assertThat(status(client(context, 0))).isEqualTo(200);
			assertThat(waits(context)).isEmpty();
		});
	}

	private RestClient client(ApplicationContext context, int seconds) {
		OutgoingRateLimits limits = context.getBean(OutgoingRateLimits.class);
		return RestClient.builder().baseUrl("http://service.example.com/").requestFactory((uri, method) -> {
			Integer asks = this.asked.poll();
			MockClientHttpResponse answer = new MockClientHttpResponse(new byte[0], (asks != null) ? 429 : 200);
			if (asks != null) {
				answer.getHeaders().add("Retry-After", asks.toString());
			}
			MockClientHttpRequest request = new MockClientHttpRequest(HttpMethod.GET, uri);
			request.setResponse(answer);
			return request;
		}).requestInterceptor(limits.interceptor("all", Duration.ofSeconds(seconds))).build();
	}

	private static int status(RestClient client) {
		return client.get().exchange((request, response) -> response.getStatusCode().value());
	}

	private static void assertDenied(RestClient client) {
		assertThatExceptionOfType(OutgoingCallDeniedException.class).isThrownBy(() -> status(client));
	}

	private void assertSeconds(int seconds) {
		assertThat(this.clock.instant()).isEqualTo(Instant.parse("2026-01-01T00:00:00Z").plusSeconds(seconds));
	}

	private static String waits(ApplicationContext context) {
		return context.getBean(MeterRegistry.class)
			.find("ratelimit.waits")
			.tag("policy", "all")
			.timers()
			.stream()
			.map((timer) -> "%s: %s in %.0f s".formatted(timer.getId().getTag("outcome"), timer.count(),
					timer.totalTime(TimeUnit.SECONDS)))
			.sorted()
			.collect(Collectors.joining(", "));
	}

	private final class Waiting implements Time {

		private final ManualTime time = new ManualTime(OutgoingWaitTests.this.clock);

		@Override
		public long nanoTime() {
			return this.time.nanoTime();
		}

		@Override
		public void pass(long nanos, Semaphore signal) throws InterruptedException {
			this.time.pass(nanos, signal);
			OutgoingWaitTests.this.meanwhile.run();
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
		}

	}

}
