package io.github.ratelimit.benchmarks;

import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

import io.github.ratelimit.Limit;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingWindowCounter;
import io.github.ratelimit.benchmarks.LogReplay.Difference;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class AccessLogTests {

	/** In the minutes from 0, 60 and 120. */
	private static final List<LogLine> LINES = Stream
		.of("55,a,GET,/", "58,a,GET,\"/x,y\"", "59,b,POST,/", "61,a,GET,/", "119,a,GET,/")
		.map(LogLine::parse)
		.toList();

	private final LogReplay replay = new LogReplay(LINES, Limit.parse("2/m"));

	@Test
	void lineHasATimeAndAClient() {
		assertThat(LogLine.parse("1431857100,client-1,GET,\"/a,b\""))
			.isEqualTo(new LogLine(Instant.parse("2015-05-17T10:05:00Z"), "client-1"));
	}

	@Test
	void lineIsRefusedWhenItHasNoTime() {
		assertThatIllegalArgumentException().isThrownBy(() -> LogLine.parse("epoch_seconds,client,method,path"))
			.withMessageStartingWith("Invalid line (epoch_seconds,client");
	}

	@Test
	void decisionsAreComparedWithTheExactOnes() {
		assertThat(this.replay.denied()).isEqualTo(1);
		assertThat(this.replay.difference(new FixedWindow())).isEqualTo(new Difference(1, 0));
		assertThat(this.replay.difference(new SlidingWindowCounter())).isEqualTo(new Difference(0, 0));
	}

	@Test
	void tableHasARowForEachAlgorithm() {
		assertThat(AccessLog.table(LINES, Limit.parse("2/m"))).startsWith("1 of 5 requests are denied exactly.")
			.contains("| `fixed-window` | 1 | 1 | 0 |")
			.contains("| `sliding-log` | 0 | 0 | 0 |");
	}

}
