package io.github.ratelimit.algorithm;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Random;

import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;

/**
 * What {@code sliding-window-counter} has to decide, in exact arithmetic, from counts
 * that come close to whole estimates.
 */
public record ExactEstimate(SlidingWindowCounter algorithm, long quota, long window, long start, long previous,
		long current, long elapsed) {

	private static final long NOW = 1_772_366_400_000_000L;

	/** Returns a window in microseconds: of every size, often of round numbers. */
	public static long randomWindow(Random random) {
		return 1000 * switch (random.nextInt(4)) {
			case 0 -> 1 + random.nextInt(100);
			case 1 -> 1000L * (1 + random.nextInt(3600));
			case 2 -> 86_400_000L * (1 + random.nextInt(3650));
			default -> 1 + random.nextLong(Limit.MAX_WINDOW.toMillis());
		};
	}

	/** Of every size, often of round numbers, and some as large as there are. */
	public static ExactEstimate random(SlidingWindowCounter algorithm, long window, Random random) {
		long quota = number(random);
		long previous = Math.min(Limit.MAX_QUOTA, (random.nextInt(3) > 0) ? quota : number(random));
		long current = random.nextBoolean() ? random.nextLong(quota + 1) : random.nextLong(Math.min(quota + 1, 10));
		long elapsed = switch (random.nextInt(3)) {
			case 0 -> random.nextLong(window);
			case 1 -> window / (1 + random.nextInt(100)) * random.nextInt(2);
			// About when an estimate is whole.
			default -> (long) (random.nextDouble() * previous) * (window / previous) % window;
		};
		return new ExactEstimate(algorithm, quota, window, NOW - NOW % window, previous, current, elapsed % window);
	}

	private static long number(Random random) {
		return switch (random.nextInt(4)) {
			case 0 -> 1 + random.nextInt(1000);
			case 1 -> (long) Math.pow(10, 1 + random.nextInt(15));
			case 2 -> Limit.MAX_QUOTA - random.nextInt(3);
			default -> 1 + (random.nextLong(Limit.MAX_QUOTA) >> random.nextInt(52));
		};
	}

	public Limit limit() {
		return new Limit(this.quota, Duration.ofMillis(this.window / 1000));
	}

	public long now() {
		return this.start + this.elapsed;
	}

	Meter meter() {
		return this.algorithm.meter(List.of(limit()), MeterState.of(this.start, this.previous, this.current), now());
	}

	public long remaining() {
		return Math.max(0, this.quota - used(this.elapsed).setScale(0, RoundingMode.CEILING).longValueExact());
	}

	/** Whether the cost is allowed after some time, by definition. */
	public boolean allows(long cost, long wait) {
		return used(this.elapsed + wait).compareTo(BigDecimal.valueOf(this.quota - cost)) <= 0;
	}

	private BigDecimal used(long elapsed) {
		if (elapsed < this.window) {
			return used(this.previous, this.current, elapsed);
		}
		return (elapsed < 2 * this.window) ? used(this.current, 0, elapsed - this.window) : BigDecimal.ZERO;
	}

	/** More digits than any two numbers that differ have in common. */
	private BigDecimal used(long previous, long current, long elapsed) {
		BigDecimal numerator = BigDecimal.valueOf(previous)
			.multiply(BigDecimal.valueOf(this.algorithm.previousWeight()))
			.multiply(BigDecimal.valueOf(this.window - elapsed));
		BigDecimal tail = numerator.divide(BigDecimal.valueOf(this.window), 60, RoundingMode.HALF_EVEN);
		BigDecimal used = tail.add(BigDecimal.valueOf(current));
		return switch (this.algorithm.rounding()) {
			case NONE -> used;
			case DOWN -> used.setScale(0, RoundingMode.FLOOR);
			case UP -> used.setScale(0, RoundingMode.CEILING);
		};
	}

}
