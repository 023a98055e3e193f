package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.ratelimit.Block;
import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.test.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the list of blocks says is what holds.
 */
class BlockListIT {

	private static final Policy POLICY = Policy.of("api", new FixedWindow(), Limit.parse("100000/3650d"));

	private final String keyPrefix = TestRedis.newKeyPrefix();

	private final RedisRateLimiter limiter = RedisRateLimiter.of(TestRedis.connections(), this.keyPrefix);

	@Test
	void listAgreesAfterBlockAndUnblockAtOnce() {
		for (int i = 0; i < 300; i++) {
			Identifier identifier = Identifier.user("user" + i);
			CompletableFuture<?> block = CompletableFuture
				.runAsync(() -> this.limiter.block(identifier, null, Duration.ofHours(1), ""));
			this.limiter.unblock(identifier, null);
			block.join();
			boolean holds = !this.limiter.tryAcquire(POLICY, identifier).allowed();
			assertThat(this.limiter.blocks()).extracting(Block::identifier)
				.satisfies((listed) -> assertThat(listed.contains(identifier)).isEqualTo(holds));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "ends", "descriptions" })
	void listOfAnotherTypeIsReplaced(String key) {
		Identifier identifier = Identifier.user("alice");
		TestRedis.client().set(this.keyPrefix + ":{~blocks}:" + key, "text");
		assertThat(this.limiter.blocks()).isEmpty();
		Block block = this.limiter.block(identifier, null, Duration.ofHours(1), "scraping");
		assertThat(this.limiter.blocks()).containsExactly(block);
		assertThat(this.limiter.unblock(identifier, null)).isTrue();
		assertThat(this.limiter.tryAcquire(POLICY, identifier).allowed()).isTrue();
	}

	@Test
	void blockOfAnotherTypeIsReplaced() {
		Identifier identifier = Identifier.user("alice");
		TestRedis.client().lpush(this.keyPrefix + ":{user:alice}:~blocks", "text");
		assertThat(this.limiter.tryAcquire(POLICY, identifier).allowed()).isTrue();
		this.limiter.block(identifier, null, Duration.ofHours(1), "scraping");
		assertThat(this.limiter.tryAcquire(POLICY, identifier).allowed()).isFalse();
	}

}
