package io.github.ratelimit.spring.algorithm;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Meter;
import io.github.ratelimit.MeterState;
import org.jspecify.annotations.Nullable;

/**
 * An algorithm of an application: a quota for each day, which is new at the same hour.
 *
 * @param hour the hour of UTC at which the day begins, from 0 to 23
 */
public record DailyAllowance(int hour) implements Algorithm {

	public DailyAllowance {
		if (hour < 0 || hour > 23) {
			throw new IllegalArgumentException("Invalid hour (%d): must be from 0 to 23.".formatted(hour));
		}
	}

	public DailyAllowance() {
		this(0);
	}

	@Override
	public String name() {
		return "daily-allowance";
	}

	@Override
	public String code() {
		return "da" + this.hour;
	}

	@Override
	public void requireSupported(List<Limit> limits) {
		if (limits.size() > 1 || !limits.get(0).window().equals(Duration.ofDays(1))) {
			throw new IllegalArgumentException(
					"Invalid limits %s: daily-allowance has one limit, such as 100/d.".formatted(limits));
		}
	}

	@Override
	public Map<String, Number> constants(List<Limit> limits) {
		return Map.of("START", startMicros());
	}

	@Override
	public Meter meter(List<Limit> limits, @Nullable MeterState state, long nowMicros) {
		return new DailyAllowanceMeter(limits.get(0), state, nowMicros, startMicros());
	}

	/** When the day begins, after midnight. */
	private long startMicros() {
		return Duration.ofHours(this.hour).toNanos() / 1000;
	}

}
