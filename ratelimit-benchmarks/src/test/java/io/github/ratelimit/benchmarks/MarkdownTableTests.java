package io.github.ratelimit.benchmarks;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class MarkdownTableTests {

	@Test
	void tableHasHeadingsAndRows() {
		MarkdownTable table = new MarkdownTable("algorithm", "µs", "bytes").add("`sliding-log`", 12.345, 12_012)
			.add("a|b", "", 1L);
		assertThat(table).hasToString("""
				| algorithm | µs | bytes |
				|---|---:|---:|
				| `sliding-log` | 12.3 | 12,012 |
				| a\\|b |  | 1 |""");
	}

	@Test
	void rowIsRefusedWhenItHasAnotherNumberOfCells() {
		assertThatIllegalArgumentException().isThrownBy(() -> new MarkdownTable("a", "b").add("only one"))
			.withMessage("Invalid row [only one]: must have 2 cells.");
	}

}
