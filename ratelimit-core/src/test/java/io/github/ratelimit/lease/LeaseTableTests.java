package io.github.ratelimit.lease;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.ratelimit.Decision.Source;
import io.github.ratelimit.Decision;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.RateLimiter;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.memory.MemoryRateLimiter;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How much is denied too early, and how many decisions reach the store, by the number of
 * instances and the rate. The table is in {@code docs/leases.md}.
 */
class LeaseTableTests {

	private static final int QUOTA = 60_000;

	private static final int[] INSTANCES = { 1, 2, 8, 32 };

	/** Requests a second, of all instances together. */
	private static final int[] RATES = { 500, 2000, 5000 };

	@Test
	void tableIsThatOfTheDocumentation() throws IOException {
		String table = "| requests/s | "
				+ IntStream.of(INSTANCES)
					.mapToObj((instances) -> (instances == 1) ? "1 instance" : instances + " instances")
					.collect(Collectors.joining(" | "))
				+ " |\n|---:|" + "---:|".repeat(INSTANCES.length) + "\n"
				+ IntStream.of(RATES).mapToObj(LeaseTableTests::row).collect(Collectors.joining("\n"));
		assertThat(Files.readString(Path.of("..", "docs", "leases.md"))).contains(table);
	}

	private static String row(int rate) {
		return "| %,d | ".formatted(rate) + IntStream.of(INSTANCES)
			.mapToObj((instances) -> new Run(instances, rate).measure())
			.collect(Collectors.joining(" | ")) + " |";
	}

	/** The end of a window and another one, which is measured. */
	private static final class Run {

		private final Policy policy = Policy.of("api", new FixedWindow(), new Limit(QUOTA, Duration.ofMinutes(1)))
			.withLease(Duration.ofSeconds(1));

		private final RateLimitRequest request = RateLimitRequest.of(this.policy, Identifier.GLOBAL);

		private final VirtualTime time = new VirtualTime("2026-03-01T12:00:50Z");

		private final MemoryRateLimiter store = new MemoryRateLimiter(this.time);

		private final RateLimiter counted = (RateLimiter) Proxy.newProxyInstance(RateLimiter.class.getClassLoader(),
				new Class<?>[] { RateLimiter.class }, (proxy, method, arguments) -> {
					this.calls += List.of("reserve", "cancel").contains(method.getName()) ? 1 : 0;
					return method.invoke(this.store, arguments);
				});

		private final LeasedRateLimiter[] instances;

		private final int rate;

		private int allowed;

		private int unusedWhenDenied;

		/** Reservations and cancellations. */
		private int calls;

		Run(int instances, int rate) {
			this.rate = rate;
			this.instances = IntStream.range(0, instances)
				.mapToObj((i) -> new LeasedRateLimiter(this.counted, this.time.new ProcessTimer(),
						this.time.clock(0, 0), 10))
				.toArray(LeasedRateLimiter[]::new);
		}

		String measure() {
			Random random = new Random(1);
			for (int window = 0; window < 2; window++) {
				this.allowed = 0;
				this.calls = 0;
				this.unusedWhenDenied = -1;
				for (int i = 0; i < ((window == 0) ? 10 : 60) * this.rate; i++) {
					send(this.instances[random.nextInt(this.instances.length)]);
					this.time.advance(1_000_000_000L / this.rate);
				}
			}
			String calls = String.format(Locale.ROOT, "%.1f%%", 100.0 * this.calls / this.allowed);
			if (this.unusedWhenDenied < 0) {
				return calls;
			}
			assertThat(this.allowed).isEqualTo(QUOTA);
			return String.format(Locale.ROOT, "%s; %.2f%%", calls, 100.0 * this.unusedWhenDenied / QUOTA);
		}

		private void send(LeasedRateLimiter instance) {
			Decision decision = instance.tryAcquire(this.request);
			if (decision.allowed()) {
				this.allowed++;
				this.calls += (decision.source() == Source.STORE) ? 1 : 0;
			}
			else if (this.unusedWhenDenied < 0) {
				this.unusedWhenDenied = QUOTA - this.allowed;
			}
		}

	}

}
