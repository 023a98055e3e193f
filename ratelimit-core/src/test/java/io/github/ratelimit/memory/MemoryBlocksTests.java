package io.github.ratelimit.memory;

import java.time.Duration;

import io.github.ratelimit.Identifier;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Blocks that have ended do not stay, however many there are.
 */
class MemoryBlocksTests {

	private final MemoryBlocks blocks = new MemoryBlocks();

	@Test
	void endedBlocksAreRemovedAsOthersAreAdded() {
		for (int i = 0; i < 100_000; i++) {
			this.blocks.add(Identifier.user("user" + i), "api", Duration.ofMillis(1), "", 1000L * i);
			assertThat(this.blocks.size()).isLessThanOrEqualTo(130);
		}
		assertThat(this.blocks.list(99_999_000L)).hasSize(1);
	}

	@Test
	void presentBlocksStay() {
		for (int i = 0; i < 1000; i++) {
			this.blocks.add(Identifier.user("user" + i), null, Duration.ofDays(1), "", 1000L * i);
		}
		assertThat(this.blocks.list(0)).hasSize(1000);
	}

	@Test
	void endedBlockCannotBeRemoved() {
		Identifier alice = Identifier.user("alice");
		this.blocks.add(alice, null, Duration.ofMillis(1), "", 0);
		assertThat(this.blocks.remove(alice, null, 1000)).isFalse();
		assertThat(this.blocks.size()).isZero();
	}

}
