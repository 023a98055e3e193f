package io.github.ratelimit.redis.connection;

import java.io.PrintWriter;
import java.io.StringWriter;

import io.github.ratelimit.Identifier;
import io.github.ratelimit.Limit;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.redis.OwnRedis;
import io.github.ratelimit.redis.PipelineRateLimiter;
import io.github.ratelimit.redis.RedisConnections;
import io.github.ratelimit.redis.RedisErrorKind;
import io.github.ratelimit.redis.RedisRateLimiter;
import io.github.ratelimit.test.TestRedis;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Errors of servers get into logs, where nobody's key of an API has any business.
 */
class ErrorTextIT {

	private static final String SECRET = "SECRET";

	@Test
	void errorsOfUnknownCommandsNameNoIdentifiers() {
		Policy policy = Policy.of("api", new FixedWindow(), Limit.parse("5/m"));
		Identifier identifier = new Identifier("header:X-Api-Key", SECRET);
		RateLimitRequest request = RateLimitRequest.of(policy, identifier);
		try (OwnRedis server = new OwnRedis("rename-command EVALSHA \"\"", "rename-command DEL \"\"",
				"rename-command INCRBY \"\""); RedisConnections redis = TestRedis.connections(server.uri()).build()) {
			RedisRateLimiter limiter = RedisRateLimiter.of(redis);
			assertNamesNothing(() -> limiter.tryAcquire(request));
			assertNamesNothing(() -> limiter.refund(request));
			assertNamesNothing(() -> limiter.unblock(identifier, null));
			assertNamesNothing(() -> limiter.reset(policy, identifier));
			assertNamesNothing(() -> PipelineRateLimiter.of(redis, "plain").tryAcquire(request));
		}
	}

	private static void assertNamesNothing(ThrowingCallable call) {
		assertThatExceptionOfType(StoreException.class).isThrownBy(call)
			.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.ERROR_REPLY))
			.satisfies((ex) -> assertThat(trace(ex)).doesNotContain(SECRET));
	}

	private static String trace(Throwable ex) {
		StringWriter trace = new StringWriter();
		ex.printStackTrace(new PrintWriter(trace));
		return trace.toString();
	}

	/** As servers of several versions say it, and perhaps others. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', value = {
			"ERR unknown command `EVALSHA`, with args beginning with: `0f5b`, `1`, `x:{user:al`, |ERR unknown command `EVALSHA`",
			"ERR unknown command 'EVALSHA', with args beginning with: '0f5b' '1' 'x:{user:al' |ERR unknown command 'EVALSHA'",
			"NOPERM User web has no permissions to access the 'x:{user:alice}:api:f' key|NOPERM User web has no permissions to access the 'x:{...}:api:f' key",
			"ERR bad key x:{user:ali|ERR bad key x:{...}", "MOVED 866 127.0.0.1:7000|MOVED 866 127.0.0.1:7000" })
	void redisKeysAreRemovedFromErrors(String text, String shown) {
		assertThat(ErrorText.withoutKeys(new JedisDataException(text))).isInstanceOf(JedisDataException.class)
			.hasMessage(shown);
	}

	@Test
	void otherErrorsAndStackTracesAreKept() {
		JedisDataException harmless = new JedisDataException("LOADING Redis is loading the dataset in memory");
		assertThat(ErrorText.withoutKeys(harmless)).isSameAs(harmless);
		JedisDataException error = new JedisDataException("ERR {x}", new IllegalStateException("cause"));
		assertThat(ErrorText.withoutKeys(error)).hasCause(error.getCause())
			.satisfies((ex) -> assertThat(ex.getStackTrace()).isEqualTo(error.getStackTrace()));
	}

}
