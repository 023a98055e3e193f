package io.github.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.ratelimit.Block;
import io.github.ratelimit.Policy;
import io.github.ratelimit.RateLimitRequest;
import io.github.ratelimit.StoreException;
import io.github.ratelimit.algorithm.FixedWindow;
import io.github.ratelimit.algorithm.SlidingLog;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What another program wrote, and what something that is no Redis answers.
 */
class WrongAnswersIT extends RedisFixture {

	private static final Policy LOG = policy(new SlidingLog(true), "5/m");

	private static final Policy WINDOWS = policy(new FixedWindow(), "5/m");

	private static final RateLimitRequest REQUEST = request(WINDOWS, 1);

	@ParameterizedTest
	@ValueSource(strings = { "", "text", " ", "    ", "END", "END ", "END a", "END a b ", "x a b  ", "-1 a b  ",
			" a b  ", "99999999999999999999 a b  ", "9007199254740993 a b  ", "END  b  ", "END a b a/b ", "END a b   ",
			"END a b  %", "END a b  %u", "END a b  %uzzzz", "END a b  %41", "END a b  \u0000", "\u0000END a b  " })
	void descriptionOfAnotherMakingIsLeftOut(String description) {
		Block first = this.limiter.block(ALICE, null, Duration.ofHours(1), "first");
		Block last = this.limiter.block(ALICE, "api", Duration.ofHours(3), "last");
		long end = first.until().plusSeconds(3600).getEpochSecond() * 1_000_000;
		this.jedis.zadd(this.keys.blockEnds(), end, "foreign");
		this.jedis.hset(this.keys.blockDescriptions(), "foreign", description.replace("END", Long.toString(end)));
		assertThat(this.limiter.blocks()).containsExactly(first, last);
	}

	@ParameterizedTest
	@ValueSource(strings = { "-inf", "inf", "-1", "1e300", "9007199254740993" })
	void endOfAnotherMakingDoesNotBreakTheList(String end) {
		Block block = this.limiter.block(ALICE, null, Duration.ofHours(1), "scraping");
		this.jedis.eval("redis.call('ZADD', KEYS[1], ARGV[1], 'foreign')", List.of(this.keys.blockEnds()),
				List.of(end));
		this.jedis.hset(this.keys.blockDescriptions(), "foreign", end + " a b  ");
		assertThat(this.limiter.blocks()).containsExactly(block);
		Block later = this.limiter.block(ALICE, null, Duration.ofHours(1), "again");
		assertThat(this.limiter.blocks()).containsExactly(later);
		assertThat(this.jedis.pttl(this.keys.blockEnds())).isPositive();
	}

	/** Each call, and answers that say nothing about it. */
	static Stream<Arguments> answers() {
		Stream<String> decisions = Stream.concat(
				Stream.of("*0\r\n", list(":1\r\n"), list("$-1\r\n"), list("$0\r\n\r\n"), list("-ERR odd\r\n"),
						"*2\r\n" + text(1, 0, 0, 4, 5, 0) + text(1, 0, 0, 4, 5, 0), list(list(text(1, 0, 0, 4, 5, 0)))),
				Stream
					.of(text(1), text(1, 0, 0, 4, 5), text(1, 0, 0, 4, 5, 0, 0), text(2, 0, 0, 4, 5, 0),
							text(1, -1, 0, 4, 5, 0), text(1, 0, 0, -4, 5, 0), text(1, 0, 0, 4, -5, 0),
							text(1, 0, 0, 4, 5, -2), text(1, 0, 0, 4, 0.5, 0), text(1, 0, 0, 4, 1e300, 0),
							text(1, 0, 0, 4, Double.NaN, 0), text(1, 0, 0, 4, Double.POSITIVE_INFINITY, 0))
					.map(WrongAnswersIT::list));
		List<String> all = decisions.toList();
		Stream<String> nothings = Stream.of("*0\r\n", list(":1\r\n"), list(text(1, 0)));
		Stream<String> lists = Stream
			.of("*1\r\n:1\r\n", "*2\r\n:1\r\n:1\r\n", "*3\r\n:7\r\n:1\r\n:1\r\n", "*3\r\n:-1\r\n:1\r\n:1\r\n",
					"*3\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n", text(1))
			.map(WrongAnswersIT::list);
		Stream<String> entries = Stream.of("*1\r\n:1\r\n", "*3\r\n:1\r\n:1\r\n:1\r\n", text(1))
			.map(WrongAnswersIT::list);
		Stream<String> number = Stream.of("+OK\r\n", "$-1\r\n", "*0\r\n");
		return Stream.of(cases("decide a request", (limiter) -> limiter.tryAcquire(REQUEST), orNoList(all.stream())),
				cases("read counts", (limiter) -> limiter.peek(REQUEST), orNoList(all.stream())),
				cases("refund a request", (limiter) -> limiter.refund(REQUEST), orNoList(nothings)),
				cases("charge a request", (limiter) -> limiter.charge(REQUEST), orNoList(Stream.of("*0\r\n"))),
				cases("read the entries of the policy 'api'", (limiter) -> limiter.entries(LOG, ALICE),
						orNoList(entries)),
				cases("read the series of the policy 'api'", (limiter) -> limiter.series(WINDOWS, ALICE),
						orNoList(lists)),
				cases("block an identifier", (limiter) -> limiter.block(ALICE, null, Duration.ofHours(1), ""),
						Stream.of("+OK\r\n", "$-1\r\n", "*0\r\n", ":-1\r\n", ":9223372036854775807\r\n")),
				cases("unblock an identifier", (limiter) -> limiter.unblock(ALICE, null), number),
				cases("list the blocks", RedisRateLimiter::blocks,
						orNoList(Stream.of("*1\r\n$1\r\n1\r\n", "*2\r\n:1\r\n:1\r\n"))))
			.flatMap((some) -> some);
	}

	/** What a script says about one request. */
	private static String text(int first, double... numbers) {
		ByteBuffer bytes = ByteBuffer.allocate(1 + Double.BYTES * numbers.length).put((byte) first);
		for (double number : numbers) {
			bytes.putDouble(number);
		}
		return "$%d\r\n%s\r\n".formatted(bytes.capacity(), new String(bytes.array(), StandardCharsets.ISO_8859_1));
	}

	private static String list(String answer) {
		return "*1\r\n" + answer;
	}

	private static Stream<String> orNoList(Stream<String> answers) {
		return Stream.concat(answers, Stream.of("+OK\r\n", ":1\r\n", "$-1\r\n", "$5\r\nhello\r\n", "*-1\r\n"));
	}

	private static Stream<Arguments> cases(String purpose, Consumer<RedisRateLimiter> call, Stream<String> answers) {
		return answers.map((answer) -> Arguments.of(purpose, call, answer));
	}

	@ParameterizedTest(name = "{index} {0}")
	@MethodSource("answers")
	void answerThatIsNoneIsAStoreException(String purpose, Consumer<RedisRateLimiter> call, String answer) {
		try (AnsweringServer server = new AnsweringServer(answer);
				RedisConnections redis = connections(server, false)) {
			RedisRateLimiter deceived = RedisRateLimiter.of(redis);
			assertThatExceptionOfType(StoreException.class).isThrownBy(() -> call.accept(deceived))
				.withMessage("Redis failed to " + purpose);
		}
	}

	/** Whatever is asked, and lists in lists for which a thread has no room. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void answerThatCannotBeReadIsAStoreException(boolean cluster) {
		String answer = "*1\r\n".repeat(200_000);
		try (AnsweringServer server = new AnsweringServer(answer);
				RedisConnections redis = connections(server, cluster)) {
			RedisRateLimiter deceived = RedisRateLimiter.of(redis);
			assertUnreadable(() -> deceived.tryAcquire(REQUEST));
			assertUnreadable(() -> deceived.entries(LOG, ALICE));
			assertUnreadable(deceived::blocks);
		}
		try (AnsweringServer server = new AnsweringServer("DEL", answer, () -> {
		}); RedisConnections redis = connections(server, cluster)) {
			assertUnreadable(() -> RedisRateLimiter.of(redis).reset(WINDOWS, ALICE));
		}
	}

	private static RedisConnections connections(AnsweringServer server, boolean cluster) {
		HostAndPort address = new HostAndPort("127.0.0.1", server.uri().getPort());
		RedisConnections.Builder builder = cluster ? RedisConnections.cluster(Set.of(address))
				: RedisConnections.server(address);
		return builder.timeBudget(Duration.ofSeconds(30)).build();
	}

	private static void assertUnreadable(ThrowingCallable call) {
		assertThatExceptionOfType(StoreException.class).isThrownBy(call)
			.satisfies((ex) -> assertThat(RedisErrorKind.of(ex)).isEqualTo(RedisErrorKind.WRONG_REPLY));
	}

	@Test
	void answerThatIsOneIsUnderstood() {
		String answer = list(text(1, 0, 0, 4, 5, 0));
		try (AnsweringServer server = new AnsweringServer(answer);
				RedisConnections redis = connections(server, false)) {
			assertThat(RedisRateLimiter.of(redis).tryAcquire(REQUEST).statuses()).singleElement()
				.satisfies((status) -> assertThat(status.remaining()).isEqualTo(4));
		}
	}

}
