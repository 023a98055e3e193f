package io.github.ratelimit;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;

class StoreExceptionTests {

	/** The third is what the socket of a virtual thread throws. */
	static Stream<Exception> interrupts() {
		return Stream.of(new InterruptedException(), new InterruptedIOException(),
				new SocketException("Closed by interrupt"), new ClosedByInterruptException());
	}

	static Stream<Exception> others() {
		return Stream.of(new SocketTimeoutException("Read timed out"), new SocketException("Connection reset"),
				new SocketException(), new IOException("Closed by interrupt"));
	}

	@ParameterizedTest
	@MethodSource("interrupts")
	void interruptsAreRecognised(Exception cause) {
		assertThat(new StoreException("failed", new IllegalStateException(cause)).isInterrupt()).isTrue();
	}

	@ParameterizedTest
	@MethodSource("others")
	void nothingElseIsAnInterrupt(Exception cause) {
		assertThat(new StoreException("failed", new IllegalStateException(cause)).isInterrupt()).isFalse();
	}

	@Test
	void reasonIsTheInnermostCause() {
		Exception cause = new IllegalStateException("outer", new IOException("inner"));
		assertThat(new StoreException("failed", cause).reason()).isEqualTo("java.io.IOException: inner");
	}

	@Test
	void reasonHasTheNodeThatATimeoutDoesNotName() {
		Exception cause = new JedisConnectionException("The node 127.0.0.1:7000 does not answer",
				new JedisConnectionException(new SocketTimeoutException("Read timed out")));
		assertThat(new StoreException("failed", cause).reason())
			.isEqualTo("The node 127.0.0.1:7000 does not answer: java.net.SocketTimeoutException: Read timed out");
	}

	@Test
	void reasonHasTheAddressThatARefusedConnectionDoesNotName() {
		Exception cause = new JedisConnectionException("Failed to connect to 127.0.0.1:6379",
				new ConnectException("Connection refused"));
		assertThat(new StoreException("failed", cause).reason())
			.isEqualTo("Failed to connect to 127.0.0.1:6379: java.net.ConnectException: Connection refused");
	}

}
