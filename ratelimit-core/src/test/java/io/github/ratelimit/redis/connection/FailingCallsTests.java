package io.github.ratelimit.redis.connection;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link FailingCalls}.
 */
class FailingCallsTests {

	private final FailingCalls calls = new FailingCalls(1000);

	@Test
	void silenceLastsAfterWhatCameOverLaterConnections() {
		assertThat(this.calls.silent(0, 2000)).isFalse();
		assertThat(this.calls.silent(1999, 2500)).as("sent before").isFalse();
		assertThat(this.calls.silent(2100, 2600)).isFalse();
		assertThat(this.calls.silent(3000, 3500)).isTrue();
		assertThat(this.calls.haveLasted()).isTrue();
	}

	/** Several connections are silent at the same time. */
	@Test
	void silenceOfSeveralConnectionsCountsOnce() {
		this.calls.silent(0, 100);
		for (int i = 0; i < 8; i++) {
			assertThat(this.calls.silent(200, 400 + i)).isFalse();
		}
		assertThat(this.calls.silent(500, 1300)).isTrue();
	}

	@Test
	void brokenConnectionsLastOneAfterTheOther() {
		assertThat(this.calls.broken(0, 5000)).as("the first").isFalse();
		assertThat(this.calls.broken(500, 999)).isFalse();
		assertThat(this.calls.broken(500, 1000)).isTrue();
	}

	@Test
	void nothingIsKnownAfterAnAnswer() {
		this.calls.broken(0, 0);
		this.calls.broken(0, 1000);
		this.calls.forget();
		assertThat(this.calls.isAny()).isFalse();
		assertThat(this.calls.haveLasted()).isFalse();
		assertThat(this.calls.broken(2000, 9000)).isFalse();
	}

}
