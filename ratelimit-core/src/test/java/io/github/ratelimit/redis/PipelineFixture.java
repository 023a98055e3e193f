package io.github.ratelimit.redis;

import java.time.Duration;
import java.util.stream.Stream;

import io.github.ratelimit.Algorithm;
import io.github.ratelimit.redis.connection.DirectServers;
import io.github.ratelimit.redis.connection.Servers;
import io.github.ratelimit.redis.pipeline.PlainCommands;
import io.github.ratelimit.redis.script.RedisKeys;
import io.github.ratelimit.test.PipelineContract;

abstract class PipelineFixture extends RedisFixture {

	/** On a busy machine an answer may take long. */
	private static final Duration BUDGET = Duration.ofSeconds(5);

	private static final Servers SERVERS = DirectServers.create();

	/** By the clock of the server where the Redis keys know it, else of this process. */
	final PipelineRateLimiter plain = create(this.keyPrefix);

	static Stream<Algorithm> algorithms() {
		return PipelineContract.algorithms();
	}

	static PipelineRateLimiter create(String keyPrefix) {
		return create(SERVERS, keyPrefix);
	}

	static PipelineRateLimiter create(Servers servers, String keyPrefix) {
		return new PipelineRateLimiter(new PlainCommands(servers, BUDGET, () -> System.nanoTime() + BUDGET.toNanos(),
				new RedisKeys(keyPrefix)));
	}

}
