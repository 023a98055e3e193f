package io.github.ratelimit.redis.cluster;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Answers to {@code CLUSTER SLOTS}.
 */
class SlotsTests {

	private static final HostAndPort ASKED = new HostAndPort("asked", 6379);

	private static List<Object> range(long first, long last, Object host, long port) {
		return List.of(first, last, Arrays.asList(host, port, text("id")));
	}

	private static byte[] text(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@Test
	void slotsBelongToTheMastersOfTheirRanges() {
		Slots slots = new Slots(List.of(range(0, 9, text("a"), 1), range(11, 16_383, text("b"), 2)), ASKED);
		HostAndPort first = new HostAndPort("a", 1);
		HostAndPort second = new HostAndPort("b", 2);
		assertThat(slots.masters).containsExactlyInAnyOrder(first, second);
		assertThat(slots.node(0)).isEqualTo(first);
		assertThat(slots.node(9)).isEqualTo(first);
		assertThat(slots.node(10)).isNull();
		assertThat(slots.node(16_383)).isEqualTo(second);
	}

	/** As with {@code cluster-preferred-endpoint-type unknown-endpoint}. */
	@Test
	void nodeWithoutHostIsTheNodeThatWasAsked() {
		HostAndPort expected = new HostAndPort("asked", 7000);
		List<Object> range = List.of(0L, 1L, Arrays.asList(null, 7000L));
		assertThat(new Slots(List.of(range), ASKED).node(0)).isEqualTo(expected);
		assertThat(new Slots(List.of(range(0, 1, text(""), 7000)), ASKED).node(1)).isEqualTo(expected);
		assertThat(Slots.address("", 7000, ASKED)).isEqualTo(expected);
	}

	@Test
	void nodeWithUnknownHostIsIgnored() {
		Slots slots = new Slots(List.of(range(0, 1, text("?"), 7000)), ASKED);
		assertThat(slots.node(0)).isNull();
		assertThat(slots.masters).isEmpty();
	}

	static Stream<Object> invalid() {
		return Stream.of("OK", List.of("OK"), List.of(List.of(0L, 1L)), List.of(List.of(0L, 1L, List.of())),
				List.of(range(0, 16_384, text("a"), 1)), List.of(range(2, 1, text("a"), 1)),
				List.of(range(-1, 1, text("a"), 1)), List.of(range(0, 1, text("a"), 65_536)));
	}

	@ParameterizedTest
	@MethodSource("invalid")
	void invalidReplyIsRejected(Object reply) {
		assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> new Slots(reply, ASKED))
			.withMessageContaining("is this a node of a Redis cluster?");
	}

}
