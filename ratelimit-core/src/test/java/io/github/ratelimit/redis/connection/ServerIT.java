package io.github.ratelimit.redis.connection;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

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

	private static final Duration LONG = Duration.ofSeconds(60);

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
		Threads.run(threads, each, (thread, attempt) -> counts.add(Increment.of(this.server, this.key, LONG)));
		assertThat(counts)
			.containsExactlyInAnyOrderElementsOf(LongStream.rangeClosed(1, (long) threads * each).boxed().toList());
		assertThat(this.events.all()).isEmpty();
	}

	@Test
	void waitingCallsAreSentTogetherInOrder() {
		Increment.ByScript codec = new Increment.ByScript(Increment.SCRIPT);
		List<Increment> calls = IntStream.range(0, 1000).mapToObj((i) -> new Increment(codec, this.key, LONG)).toList();
		try (Server one = Connecting.to(TestRedis.uri().getPort(), new ServerSettings("one", LONG, 1, 1000),
				this.events)) {
			calls.forEach(one::submit);
			assertThat(calls.stream().map(Call::await))
				.containsExactlyElementsOf(LongStream.rangeClosed(1, 1000).<Object>boxed().toList());
		}
		assertThat(codec.sizes).hasSizeLessThan(1000).allSatisfy((size) -> assertThat(Math.abs(size)).isLessThan(129));
	}

	@ParameterizedTest
	@CsvSource({ "64, 2", "65, 1", "128, 1", "1000, 1" })
	void batchHasNoMoreWorkThanAllowed(int work, int most) {
		Increment.ByScript codec = new Increment.ByScript(Increment.SCRIPT);
		List<Increment> calls = IntStream.range(0, 200)
			.mapToObj((i) -> new Increment(codec, 0, this.key, LONG, work))
			.toList();
		try (Server one = Connecting.to(TestRedis.uri().getPort(), new ServerSettings("one", LONG, 1, 1000),
				this.events)) {
			calls.forEach(one::submit);
			calls.forEach(Call::await);
		}
		assertThat(codec.sizes.stream().mapToInt(Math::abs).max()).hasValue(most);
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
			List<Increment> calls = Stream.generate(() -> new Increment(Increment.PLAIN, this.key, LONG))
				.limit(6)
				.toList();
			one.submit(calls.get(0));
			await(asked);
			calls.subList(1, 6).forEach(one::submit);
			assertThat(calls.subList(4, 6)).allSatisfy((call) -> Connecting.assertNotSent(call::await)
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.QUEUE_FULL)));
			answer.countDown();
			assertThat(calls.subList(0, 4).stream().map(Call::await)).containsOnly(1L);
		}
		assertThat(this.events.all()).containsExactly("overloaded", "overloaded");
	}

	@Test
	void callsThatCannotBeTakenLeaveRoomForOthers() {
		try (Server one = Connecting.to(TestRedis.uri().getPort(), new ServerSettings("one", LONG, 1, 3),
				this.events)) {
			for (int i = 0; i < 4; i++) {
				Call impossible = new Impossible();
				one.submit(impossible);
				TestCluster.await("It was taken", () -> !one.hasWaiting());
			}
			assertThat(Increment.of(one, this.key, LONG)).isEqualTo(1);
		}
		assertThat(this.events.all()).isEmpty();
	}

	/** Several lanes take calls at once, each of which looks what the next one is. */
	@Test
	void batchesOfManyLanesHaveNoMoreWorkThanAllowed() throws Exception {
		Works codec = new Works();
		try (Server many = Connecting.to(TestRedis.uri().getPort(), new ServerSettings("many", LONG, 16, 100_000),
				this.events)) {
			Threads.run(32, 1, (thread, attempt) -> {
				List<Increment> calls = IntStream.range(0, 1000)
					.mapToObj((j) -> new Increment(codec, 0, this.key, LONG, ((thread + j) % 4 == 0) ? 100 : 1))
					.toList();
				calls.forEach(many::submit);
				calls.forEach(Call::await);
			});
		}
		assertThat(codec.most).isBetween(100, 128);
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
			Threads.run(8, 50, (thread, attempt) -> Increment.of(own, this.key, LONG));
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
		Increment.ByScript codec = new Increment.ByScript(Increment.SCRIPT + " -- " + this.key);
		for (int i = 1; i <= 3; i++) {
			Increment call = new Increment(codec, this.key, LONG);
			this.server.submit(call);
			assertThat(call.await()).isEqualTo((long) i);
		}
		assertThat(codec.sizes).containsExactly(1, -1, 1, 1);
	}

	@Test
	void callFailsWhenScriptIsUnknownEvenWithItsSource() {
		Increment.ByScript codec = new Increment.ByScript("return {err = 'NOSCRIPT never'} -- " + this.key);
		Increment call = new Increment(codec, this.key, LONG);
		this.server.submit(call);
		assertThatExceptionOfType(JedisNoScriptException.class).isThrownBy(call::await);
		assertThat(codec.sizes).containsExactly(1, -1);
	}

	@Test
	void errorOfOneCallDoesNotAffectOthers() {
		TestRedis.client().set(this.key, "text");
		Increment wrong = new Increment(Increment.PLAIN, this.key, LONG);
		Increment right = new Increment(Increment.PLAIN, this.key + ":other", LONG);
		this.server.submit(wrong);
		this.server.submit(right);
		assertThatExceptionOfType(JedisDataException.class).isThrownBy(wrong::await);
		assertThat(right.await()).isEqualTo(1L);
		assertThat(this.events.all()).isEmpty();
	}

	@Test
	void failureOfOneCodecDoesNotAffectOthers() {
		Increment unmade = new Increment(new Failing(true), this.key, LONG);
		Increment undelivered = new Increment(new Failing(false), this.key, LONG);
		List.of(unmade, undelivered).forEach(this.server::submit);
		assertThat(Increment.of(this.server, this.key + ":other", LONG)).isEqualTo(1);
		assertThatExceptionOfType(JedisException.class).isThrownBy(unmade::await)
			.withCauseInstanceOf(IllegalStateException.class);
		assertThatExceptionOfType(JedisException.class).isThrownBy(undelivered::await)
			.withCauseInstanceOf(IllegalStateException.class);
	}

	@Test
	void commandsOfOneCodecAreNotInterleavedWithOthers() throws Exception {
		List<Thread> others = IntStream.range(0, 8).mapToObj((i) -> new Thread(() -> {
			for (int j = 0; j < 100; j++) {
				Increment.of(this.server, this.key + ":other", LONG);
			}
		})).toList();
		others.forEach(Thread::start);
		for (int i = 1; i <= 100; i++) {
			Increment call = new Increment(new Transaction(this.key), this.key, LONG);
			this.server.submit(call);
			assertThat(call.await()).isEqualTo(List.of(2L * i - 1, 2L * i));
		}
		for (Thread other : others) {
			other.join();
		}
	}

	@Test
	void callIsNotSentAfterItsDeadline() {
		Increment call = new Increment(Increment.PLAIN, this.key, Duration.ZERO);
		this.server.submit(call);
		Connecting.assertNotSent(call::await).satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.TOO_LATE));
		assertThat(Increment.of(this.server, this.key, LONG)).isEqualTo(1);
	}

	/** What it gives back would be lost otherwise. */
	@Test
	void interruptedThreadGetsItsAnswerAndStaysInterrupted() {
		Thread.currentThread().interrupt();
		long count = Increment.of(this.server, this.key, LONG);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(count).isEqualTo(1);
	}

	@Test
	void callsFailWhenTheServerIsClosed() {
		Increment.of(this.server, this.key, LONG);
		this.server.close();
		Connecting.assertNotSent(() -> Increment.of(this.server, this.key, LONG))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(Reason.OUTAGE));
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

	/** Notes the work of the largest batch. */
	private static final class Works implements Codec {

		private int most;

		@Override
		public synchronized List<CommandArguments> commands(List<Call> calls, boolean source) {
			this.most = Math.max(this.most, calls.stream().mapToInt(Call::work).sum());
			return Increment.PLAIN.commands(calls, source);
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			Increment.PLAIN.deliver(calls, replies);
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

	/** Counts twice. */
	private record Transaction(String key) implements Codec {

		@Override
		public List<CommandArguments> commands(List<Call> calls, boolean source) {
			return List.of(new CommandArguments(Command.MULTI), new CommandArguments(Command.INCR).add(this.key),
					new CommandArguments(Command.INCR).add(this.key), new CommandArguments(Command.EXEC));
		}

		@Override
		public void deliver(List<Call> calls, List<Object> replies) {
			calls.get(0).complete(replies.get(3));
		}

	}

}
