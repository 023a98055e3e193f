package io.github.ratelimit.redis;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class DeadlinesTests {

	private static final Duration BUDGET = Duration.ofMillis(100);

	private final Deadlines deadlines = new Deadlines(BUDGET);

	@Test
	void firstCallsEndTogether() {
		long first = this.deadlines.next();
		assertThat(first - System.nanoTime()).isGreaterThan(BUDGET.toNanos());
		assertThat(this.deadlines.next()).isBetween(first - BUDGET.toNanos(), first + BUDGET.toNanos());
	}

	@Test
	void callsHaveTheBudgetOnceConnected() {
		this.deadlines.next();
		this.deadlines.connected();
		assertThat(this.deadlines.next() - System.nanoTime()).isLessThanOrEqualTo(BUDGET.toNanos());
	}

}
