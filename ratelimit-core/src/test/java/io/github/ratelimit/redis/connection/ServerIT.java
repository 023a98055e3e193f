package io.github.ratelimit.redis.connection;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.github.ratelimit.redis.AnsweringServer;
import io.github.ratelimit.redis.connection.CallException.Reason;
import io.github.ratelimit.test.FaultyProxy;
import io.github.ratelimit.test.TestCluster;
import io.github.ratelimit.test.TestRedis;
import io.github.ratelimit.test.Threads;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Calls to a server that is well.
 */
@Timeout(120)
class ServerIT {

	private static final Duration LONG = Increment.LONG;

	@TempDir
	private Path folder;

	private final String key = TestRedis.newKeyPrefix();

	private final Events events = new Events();

	private final Server server = Connecting.to(TestRedis.uri().getPort(), LONG, this.events);

	@AfterEach
	void close() {
		this.server.close();
	}

	@Test
	void settingsOutOfRangeAreRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> Connecting.settings("a", Duration.ofNanos(1)))
			.withMessage("Invalid time budget (PT0.000000001S): must be from 2ms to 1h.");
		assertThatIllegalArgumentException().isThrownBy(() -> new ServerSettings("a", LONG, 0, 1))
			.withMessage("Invalid connections (0): must be from 1 to 64.");
		assertThatIllegalArgumentException().isThrownBy(() -> new ServerSettings("a", LONG, 65, 1))
			.withMessage("Invalid connections (65): must be from 1 to 64.");
		assertThatIllegalArgumentException().isThrownBy(() -> new ServerSettings("a", LONG, 1, 0))
			.withMessage("Invalid maxWaiting (0): must be at least 1.");
	}

	@Test
	void everyCallIsAnsweredOnceWhenManyCallersWait() throws Exception {
		int threads = 64;
		int each = 200;
		Set<Long> counts = ConcurrentHashMap.newKeySet();
		Threads.run(threads, each, (thread, attempt) -> counts.add(Increment.of(this.server, this.key)));
		assertThat(counts)
			.containsExactlyInAnyOrderElementsOf(LongStream.rangeClosed(1, (long) threads * each).boxed().toList());
		assertThat(this.events.all()).isEmpty();
	}

	private Server one(int maxWaiting) {
		return Connecting.to(TestRedis.uri().getPort(), new ServerSettings("one", LONG, 1, maxWaiting), this.events);
	}

	private List<Increment> calls(int number, Codec codec, IntUnaryOperator work) {
		return IntStream.range(0, number)
			.mapToObj((i) -> new Increment(codec, 0, LONG, work.applyAsInt(i), this.key))
			.toList();
	}

	/** Also where one call is more work than a batch may have. */
	@ParameterizedTest
	@CsvSource({ "1, 2, 128", "64, 128, 128", "65, 65, 65", "128, 128, 128", "1000, 1000, 1000" })
	void waitingCallsAreSentInOrderAndFewTogether(int work, int least, int most) {
		Increment.ByScript codec = new Increment.ByScript("");
		List<Increment> calls = calls(1000, codec, (i) -> work);
		try (Server one = one(1000)) {
			calls.forEach(one::submit);
			assertThat(calls.stream().map(Call::await))
				.containsExactlyElementsOf(LongStream.rangeClosed(1, 1000).<Object>boxed().toList());
		}
		assertThat(codec.works.stream().mapToInt(Math::abs).max().orElseThrow()).isBetween(least, most);
	}

	/** One call is under way, and three may wait. */
	@Test
	void callsFailWhenTooManyOthersWait() throws Exception {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		try (AnsweringServer slow = new AnsweringServer("INCR", ":1\r\n", () -> {
			asked.countDown();
			await(answer);
		}); Server one = Connecting.to(slow.uri().getPort(), new ServerSettings("one", LONG, 1, 3), this.events)) {
			List<Increment> calls = calls(6, Increment.PLAIN, (i) -> 1);
			one.submit(calls.get(0));
			await(asked);
			calls.subList(1, 6).forEach(one::submit);
			assertThat(calls.subList(4, 6))
				.allSatisfy((call) -> Connecting.assertFails(Reason.QUEUE_FULL, call::await));
			answer.countDown();
			assertThat(calls.subList(0, 4).stream().map(Call::await)).containsOnly(1L);
		}
		assertThat(this.events.all()).containsExactly("overloaded", "overloaded");
	}

	@Test
	void callsThatCannotBeTakenLeaveRoomForOthers() {
		try (Server one = one(3)) {
			for (int i = 0; i < 4; i++) {
				one.submit(new Impossible());
				TestCluster.await("It was taken", () -> !one.hasWaiting());
			}
			assertThat(Increment.of(one, this.key)).isEqualTo(1);
		}
		assertThat(this.events.all()).isEmpty();
	}

	/** Several lanes take calls at once, each of which looks what the next one is. */
	@Test
	void batchesOfManyLanesHaveNoMoreWorkThanAllowed() throws Exception {
		Increment.ByScript codec = new Increment.ByScript("");
		try (Server many = Connecting.to(TestRedis.uri().getPort(), new ServerSettings("many", LONG, 16, 100_000),
				this.events)) {
			Threads.run(32, 1, (thread, attempt) -> {
				List<Increment> calls = calls(1000, codec, (j) -> ((thread + j) % 4 == 0) ? 100 : 1);
				calls.forEach(many::submit);
				calls.forEach(Call::await);
			});
		}
		assertThat(codec.works.stream().mapToInt(Math::abs).max().orElseThrow()).isBetween(100, 128);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void socketsAreReadByOwnThreadsOnly() throws Exception {
		try (FaultyProxy proxy = new FaultyProxy(TestRedis.uri());
				Server own = Connecting.to(proxy.uri().getPort(), LONG, this.events);
				Recording reads = new Recording()) {
			reads.enable("jdk.SocketRead").withThreshold(Duration.ZERO);
			reads.start();
			Threads.run(8, 50, (thread, attempt) -> Increment.of(own, this.key));
			reads.stop();
			Path file = this.folder.resolve("reads.jfr");
			reads.dump(file);
			assertThat(RecordingFile.readAllEvents(file))
				.filteredOn((read) -> read.getInt("port") == proxy.uri().getPort())
				.isNotEmpty()
				.allSatisfy((read) -> assertThat(read.getThread().getJavaName()).startsWith("ratelimit-test-"));
		}
	}

	@Test
	void sourceIsSentOnlyOfUnknownScripts() {
		Increment.ByScript codec = new Increment.ByScript("-- " + this.key + "\n");
		for (int i = 1; i <= 3; i++) {
			assertThat(Increment.submit(this.server, codec, this.key).number()).isEqualTo(i);
		}
		assertThat(codec.works).containsExactly(1, -1, 1, 1);
	}

	@Test
	void callFailsWhenScriptIsUnknownEvenWithItsSource() {
		Increment.ByScript codec = new Increment.ByScript(
				"if #KEYS > 0 then return {err = 'NOSCRIPT never " + this.key + "'} end");
		assertThatExceptionOfType(JedisNoScriptException.class)
			.isThrownBy(Increment.submit(this.server, codec, this.key)::await);
		assertThat(codec.works).containsExactly(1, -1);
	}

	@Test
	void errorOfOneCallDoesNotAffectOthers() {
		TestRedis.client().set(this.key, "text");
		Increment wrong = Increment.submit(this.server, LONG, this.key);
		Increment right = Increment.submit(this.server, LONG, this.key + ":other");
		assertThatExceptionOfType(JedisDataException.class).isThrownBy(wrong::await);
		assertThat(right.number()).isEqualTo(1);
		assertThat(this.events.all()).isEmpty();
	}

	@Test
	void failureOfOneCodecDoesNotAffectOthers() {
		Increment unmade = Increment.submit(this.server, new Failing(true), this.key);
		Increment undelivered = Increment.submit(this.server, new Failing(false), this.key);
		assertThat(Increment.of(this.server, this.key + ":other")).isEqualTo(1);
		assertThat(List.of(unmade, undelivered))
			.allSatisfy((call) -> assertThatExceptionOfType(JedisException.class).isThrownBy(call::await)
				.withCauseInstanceOf(IllegalStateException.class));
	}

	@Test
	void commandsOfOneCodecAreNotInterleavedWithOthers() throws Exception {
		List<Thread> others = IntStream.range(0, 8).mapToObj((i) -> new Thread(() -> {
			for (int j = 0; j < 100; j++) {
				Increment.of(this.server, this.key + ":other");
			}
		})).toList();
		others.forEach(Thread::start);
		CommandArguments increment = new CommandArguments(Command.INCR).add(this.key);
		for (int i = 1; i <= 100; i++) {
			CommandCall twice = new CommandCall((source) -> List.of(new CommandArguments(Command.MULTI), increment,
					increment, new CommandArguments(Command.EXEC)), 1, 0, System.nanoTime() + LONG.toNanos());
			this.server.submit(twice);
			assertThat(twice.await()).isEqualTo(List.of(2L * i - 1, 2L * i));
		}
		for (Thread other : others) {
			other.join();
		}
	}

	@Test
	void callIsNotSentAfterItsDeadline() {
		Connecting.assertFails(Reason.TOO_LATE, Increment.submit(this.server, Duration.ZERO, this.key)::await);
		assertThat(Increment.of(this.server, this.key)).isEqualTo(1);
	}

	/** What it gives back would be lost otherwise. */
	@Test
	void interruptedThreadGetsItsAnswerAndStaysInterrupted() {
		Thread.currentThread().interrupt();
		long count = Increment.of(this.server, this.key);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(count).isEqualTo(1);
	}

	@Test
	void callsFailWhenTheServerIsClosed() {
		Increment.of(this.server, this.key);
		this.server.close();
		Connecting.assertFails(Reason.OUTAGE, () -> Increment.of(this.server, this.key));
	}

	/** Nobody knows its work. */
	private static final class Impossible extends Call {

		Impossible() {
			super(Increment.PLAIN, 0, System.nanoTime() + LONG.toNanos());
		}

		@Override
		public int work() {
			throw new OutOfMemoryError("of a test");
		}

	}

	private record Failing(boolean early) implements Codec {

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			if (this.early) {
				throw new IllegalStateException("early");
			}
			return List.of(new CommandArguments(Command.PING), new CommandArguments(Command.PING));
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			throw new IllegalStateException("late");
		}

	}

}
